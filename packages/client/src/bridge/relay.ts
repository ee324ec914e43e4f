import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CancelledNotificationSchema,
  isInitializedNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { ZodError } from 'zod';
import { createCalls } from './calls.ts';
import { errorReason } from './errors.ts';
import { openLines } from './input-lines.ts';
import type { ServiceConnection } from './service-connection.ts';

export interface RelayParts {
  input: Readable;
  output: Writable;
  address: URL;
  /** Creates the service's side; `onMessage` receives its requests and notifications. */
  connect(onMessage: (message: JSONRPCMessage) => void): ServiceConnection;
  log(text: string): void;
  /** Ends the relay at once. */
  interrupted: AbortSignal;
}

/** How long pending calls can still get a response, and the client can still read it, after the client has closed its input. */
const drainTimeoutMs = 10_000;

/**
 * Relays messages between a client at standard input and output and the service, until the client closes its end or the process is
 * interrupted. Only JSON-RPC messages are written to the output.
 */
export async function relay({
  input,
  output,
  address,
  connect,
  log,
  interrupted,
}: RelayParts): Promise<void> {
  const { lines, closeLines } = openLines(input, onClientError);
  const client = new StdioServerTransport(lines, output);
  const { sendToClient, allSent } = createSender(client, log);
  const link = connect(sendToClient);
  const calls = createCalls({ link, address, sendToClient, log });
  const pending = new Set<Promise<void>>();

  /** Relays a notification or response. Errors are only logged, because the client expects no response. */
  async function relayOneWay(message: JSONRPCMessage): Promise<void> {
    const cancelled = CancelledNotificationSchema.safeParse(message).data?.params.requestId;
    calls.forget(cancelled);
    if (!('method' in message)) calls.onClientResponse(message.id);
    await calls.whenInitialized();
    try {
      await link.send(message, interrupted);
      if (isInitializedNotification(message)) link.startNotifications();
    } catch (error) {
      if (!interrupted.aborted) log(`a message of the client was lost (${errorReason(error)})`);
    }
    calls.abortForgotten(cancelled);
  }

  function onClientMessage(message: JSONRPCMessage): void {
    const done = isJSONRPCRequest(message) ? calls.answer(message) : relayOneWay(message);
    pending.add(done);
    void done.finally(() => pending.delete(done));
  }

  /** Sends a JSON-RPC error without an id for invalid input. */
  function onClientError(error: Error): void {
    const isInvalid = error instanceof ZodError;
    if (!isInvalid && !(error instanceof SyntaxError)) {
      log(`standard input: ${errorReason(error)}`);
      return;
    }
    const rpcError = isInvalid
      ? { code: -32_600, message: 'Invalid Request: expected one JSON-RPC 2.0 message per line.' }
      : { code: -32_700, message: 'Parse error: expected one JSON-RPC 2.0 message per line, in UTF-8.' };
    log(`standard input: ${rpcError.message}`);
    sendToClient({ jsonrpc: '2.0', error: rpcError });
  }

  const outputClosed = new AbortController();
  const clientClosed = new Promise<void>((resolve) => {
    const onClose = () => resolve();
    lines.once('end', onClose);
    // The client no longer reads.
    output.once('error', onClose);
    for (const event of ['error', 'close']) output.once(event, () => outputClosed.abort());
    Object.assign(client, { onclose: onClose });
    interrupted.addEventListener('abort', onClose, { once: true });
    if (interrupted.aborted) onClose();
  });
  // SDK transports have one handler property for each event.
  Object.assign(client, { onmessage: onClientMessage, onerror: onClientError });
  await client.start();
  await clientClosed;

  const drained = new AbortController();
  const stop = AbortSignal.any([interrupted, outputClosed.signal, drained.signal]);
  await Promise.race([
    Promise.allSettled(pending).then(allSent),
    pause(drainTimeoutMs, undefined, { signal: stop }).catch(() => undefined), // the abort ends the wait
  ]);
  drained.abort();
  calls.close();
  closeLines();
  await client.close();
  await link.close();
}

/** Sends one message at a time: each one that waits for a slow reader has a listener for `drain`. */
function createSender(client: StdioServerTransport, log: RelayParts['log']) {
  let sent = Promise.resolve();
  return {
    sendToClient(this: void, message: JSONRPCMessage): void {
      sent = sent
        .then(() => client.send(message))
        .catch((error: unknown) => log(`the client cannot be reached (${errorReason(error)})`));
    },
    /** Resolves when what was sent so far has been read. */
    allSent: () => sent,
  };
}
