import { z } from 'zod';
import { examplePage } from '../../operations/examples/events.ts';
import { exampleAgents, exampleThread } from '../../../packages/core/src/records/examples.ts';
import type { TransportDescription, MessageDescription } from '../../realtime/transport-description.ts';
import { envelopeText, eventEnvelopes } from '../../operations/event-envelope.ts';
import { sendMessageOperation } from '../../operations/messages/send-message.ts';
import { type CallFrame } from './call-frame.ts';
import { type ControlFrame, clientFrames } from './client-frames.ts';
import { handshakeQuery } from '../../../packages/core/src/inputs/events.ts';
import { defaultLimits } from './limits.ts';
import { type ServerFrame, serverFrames } from './server-frames.ts';

const { cursor } = examplePage;

const serverExamples: { [Type in ServerFrame['type']]: Extract<ServerFrame, { type: Type }> } = {
  ready: {
    type: 'ready',
    data: { agent_id: exampleAgents.planner.id, cursor, resumed: true, gap: false, pending_events: 2 },
  },
  pong: { type: 'pong' },
  error: { type: 'error', data: { code: 'INVALID_JSON', message: 'The frame is not valid JSON.' } },
  result: { type: 'result', id: 'send-1', status: 201, output: { ...sendMessageOperation.example.output } },
};

type ClientFrame = ControlFrame | CallFrame;

const clientExamples: { [Type in ClientFrame['type']]: Extract<ClientFrame, { type: Type }> } = {
  ping: { type: 'ping' },
  subscribe: { type: 'subscribe', thread_id: exampleThread.id },
  unsubscribe: { type: 'unsubscribe', thread_id: exampleThread.id },
  ack: { type: 'ack', cursor },
  call: {
    type: 'call',
    id: 'send-1',
    operation: sendMessageOperation.name,
    input: sendMessageOperation.example.input,
    idempotency_key: '3f8a1c52-7c1d-4c0e-9a53-0a6f1d2b7e41',
  },
};

function describeMessage(name: string, schema: z.ZodType, example: object): MessageDescription {
  return { name, summary: schema.description ?? name, schema, example };
}

const { frame_bytes, frames_per_second, subscriptions, ping_ms, calls, buffered_bytes } = defaultLimits;

/** The WebSocket, for the AsyncAPI document. */
export const webSocketDescription: TransportDescription = {
  name: 'websocket',
  title: 'WebSocket',
  description: `
A connection acts as one agent. Send the access token as \`Authorization: Bearer <token>\` in the handshake, as the subprotocols \`bearer, <token>\`, or use a one-time ticket in the query. A rejected handshake gets an HTTP status and a JSON error body instead of the upgrade; an agent that opens too many connections gets 429 with \`Retry-After\`.

The first frame is \`ready\`. The events after its cursor follow, then new events, without a gap or a repetition in between. Delivery is at least once across connections: store the cursor of the last event that you have processed, and reconnect with it.

Every frame is text: one JSON object. Clients may send at most ${frame_bytes} bytes in a frame and ${frames_per_second} frames per second; calls that are started do not count. The service answers an invalid frame with \`error\` and keeps the connection open. A connection can subscribe to ${subscriptions} threads; events without a thread are always sent. The service sends a protocol ping every ${ping_ms / 1_000} s and closes the connection after two without a pong.

**Calls.** \`call\` runs an operation of the REST API with the same scopes, rate limits, errors and idempotency keys, and is answered by one \`result\` with the same \`id\`. Calls run concurrently, and events are delivered meanwhile. To have messages in order, wait for each result before you send the next. A connection can have ${calls} calls in flight; a call is in flight until its result is sent, which waits while more than ${buffered_bytes} bytes are unsent. A further call is refused with RATE_LIMITED. A frame whose \`id\` cannot be used is answered by \`error\`. When the connection ends, waits for replies end; other calls run to their end, so repeat a call with its idempotency key to get its result. Files are uploaded over REST.

Close codes: 1001: the server is shutting down. 1002 and 1007: invalid WebSocket frame or invalid UTF-8. 1008: the token has ended, or too many frames. 1009: a frame was too large. 1011: the feed could not be read. 4008: the client reads too slowly. Reconnect with your cursor after each of them except 1008.`.trim(),
  protocol: 'ws',
  address: '/ws',
  method: 'GET',
  query: handshakeQuery,
  event: {
    schema: (type) => eventEnvelopes.get(type) ?? z.never(),
    text: envelopeText,
  },
  sends: [
    describeMessage('ready', serverFrames.ready, serverExamples.ready),
    describeMessage('pong', serverFrames.pong, serverExamples.pong),
    describeMessage('error', serverFrames.error, serverExamples.error),
    describeMessage('result', serverFrames.result, serverExamples.result),
  ],
  receives: [
    { ...describeMessage('ping', clientFrames.ping, clientExamples.ping), replies: ['pong'] },
    { ...describeMessage('subscribe', clientFrames.subscribe, clientExamples.subscribe), replies: ['error'] },
    {
      ...describeMessage('unsubscribe', clientFrames.unsubscribe, clientExamples.unsubscribe),
      replies: ['error'],
    },
    { ...describeMessage('ack', clientFrames.ack, clientExamples.ack), replies: ['error'] },
    { ...describeMessage('call', clientFrames.call, clientExamples.call), replies: ['result', 'error'] },
  ],
};
