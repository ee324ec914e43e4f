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
import type { ServiceConnection } from './service-connection.ts';

export interface RelayParts {
  input: Readable;
  output: Writable;
  address: URL;
  /** Makes the service's side; `hear` takes what the service says by itself. */
  connect(hear: (message: JSONRPCMessage) => void): ServiceConnection;
  log(line: string): void;
  /** Ends everything at once. */
  interrupted: AbortSignal;
}

/** How long calls may still be answered after the client has closed its end, in ms. */
const drainTimeoutMs = 10_000;

/**
 * Carries messages between a client at standard input and output and the service, until the client closes its end or somebody
 * interrupts. Nothing but JSON-RPC goes to the output.
 */
export async function relay({
  input,
  output,
  address,
  connect,
  log,
  interrupted,
}: RelayParts): Promise<void> {
  const client = new StdioServerTransport(input, output);
  const link = connect(sendToClient);
  const calls = createCalls({ link, address, sendToClient, log });
  const underWay = new Set<Promise<void>>();

  function sendToClient(message: JSONRPCMessage): void {
    client
      .send(message)
      .catch((error: unknown) => log(`the client cannot be reached (${errorReason(error)})`));
  }

  /** Carries what is no request. What gets lost is only told here: nobody waits for it. */
  async function pass(message: JSONRPCMessage): Promise<void> {
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

  function take(message: JSONRPCMessage): void {
    const done = isJSONRPCRequest(message) ? calls.answer(message) : pass(message);
    underWay.add(done);
    void done.finally(() => underWay.delete(done));
  }

  /** What is no JSON-RPC is answered as JSON-RPC says, as far as MCP has a form for it: without an id. */
  function refuse(error: Error): void {
    const isInvalid = error instanceof ZodError;
    if (!isInvalid && !(error instanceof SyntaxError)) {
      log(`standard input: ${errorReason(error)}`);
      return;
    }
    const told = isInvalid
      ? { code: -32_600, message: 'Invalid Request: one JSON-RPC 2.0 message a line is expected.' }
      : { code: -32_700, message: 'Parse error: one JSON-RPC 2.0 message a line is expected.' };
    log(`a line at standard input: ${told.message}`);
    sendToClient({ jsonrpc: '2.0', error: told });
  }

  const left = new Promise<void>((resolve) => {
    const done = () => resolve();
    input.once('end', done).once('close', done);
    // Nobody reads any more.
    output.once('error', done);
    Object.assign(client, { onclose: done });
    interrupted.addEventListener('abort', done, { once: true });
    if (interrupted.aborted) done();
  });
  // The SDK's transports take one handler of each kind.
  Object.assign(client, { onmessage: take, onerror: refuse });
  await client.start();
  await left;

  const enough = new AbortController();
  const stop = AbortSignal.any([interrupted, enough.signal]);
  await Promise.race([
    Promise.allSettled(underWay),
    pause(drainTimeoutMs, undefined, { signal: stop }).catch(() => 'it ends at once'),
  ]);
  enough.abort();
  calls.close();
  await client.close();
  await link.close();
}
