import { z } from 'zod';
import { examplePage } from '../../operations/examples/events.ts';
import { exampleAgents, exampleThread } from '../../operations/examples/records.ts';
import type { TransportDescription, MessageDescription } from '../../realtime/transport-description.ts';
import { envelopeText, eventEnvelopes } from '../../realtime/envelope.ts';
import { type ClientFrame, clientFrames } from './client-frames.ts';
import { defaultLimits } from './limits.ts';
import { type ServerFrame, serverFrames } from './server-frames.ts';

const handshake = z.object({
  cursor: z
    .string()
    .optional()
    .describe(
      'Events behind this one are sent first. Without it: behind the acknowledged position, or from now on.',
    ),
  ticket: z
    .string()
    .optional()
    .describe('Of POST /v1/realtime/tickets, for clients that can send no header.'),
});

const { cursor } = examplePage;

const serverExamples: { [Type in ServerFrame['type']]: Extract<ServerFrame, { type: Type }> } = {
  ready: { type: 'ready', data: { agent_id: exampleAgents.planner.id, cursor, resumed: true, gap: false } },
  pong: { type: 'pong' },
  error: { type: 'error', data: { code: 'INVALID_JSON', message: 'The frame is not valid JSON.' } },
};

const clientExamples: { [Type in ClientFrame['type']]: Extract<ClientFrame, { type: Type }> } = {
  ping: { type: 'ping' },
  subscribe: { type: 'subscribe', thread_id: exampleThread.id },
  unsubscribe: { type: 'unsubscribe', thread_id: exampleThread.id },
  ack: { type: 'ack', cursor },
};

function describeMessage(name: string, schema: z.ZodType, example: object): MessageDescription {
  return { name, summary: schema.description ?? name, schema, example };
}

const { frame_bytes, frames_per_second, subscriptions, ping_ms } = defaultLimits;

/** The WebSocket, for the description of the events. */
export const webSocketDescription: TransportDescription = {
  name: 'websocket',
  title: 'WebSocket',
  description: `
One connection is one agent. The token comes as \`Authorization: Bearer <token>\` in the handshake, as the subprotocols \`bearer, <token>\`, or as a one-time ticket in the query. What is refused is refused before the upgrade, with the status and the JSON body of every refusal.

The first frame is \`ready\`. Then come the events behind its cursor, then what happens, without hole or repetition at the seam. Delivery is at least once over all connections: keep the cursor of the last event that you have dealt with, and connect again with it.

Every frame is text: one JSON object of at most ${frame_bytes} bytes, at most ${frames_per_second} a second. What cannot be taken is answered by \`error\`, and the connection stays. A connection may name ${subscriptions} threads; events that belong to no thread always come. A protocol ping comes every ${ping_ms / 1_000} s; two without a pong end the connection.

Close codes: 1001 the server stops, 1002 and 1007 what you sent is no WebSocket frame or no UTF-8, 1008 the token has ended or you sent too many frames, 1009 a frame was too large, 1011 the feed could not be read, 4008 you read too slowly, so that too much waited or what you had not read was removed. After each of them but 1008, connect again with your cursor.`.trim(),
  protocol: 'ws',
  address: '/ws',
  method: 'GET',
  query: handshake,
  event: {
    schema: (type) => eventEnvelopes.get(type) ?? z.never(),
    text: envelopeText,
  },
  sends: [
    describeMessage('ready', serverFrames.ready, serverExamples.ready),
    describeMessage('pong', serverFrames.pong, serverExamples.pong),
    describeMessage('error', serverFrames.error, serverExamples.error),
  ],
  receives: [
    { ...describeMessage('ping', clientFrames.ping, clientExamples.ping), replies: ['pong'] },
    { ...describeMessage('subscribe', clientFrames.subscribe, clientExamples.subscribe), replies: ['error'] },
    {
      ...describeMessage('unsubscribe', clientFrames.unsubscribe, clientExamples.unsubscribe),
      replies: ['error'],
    },
    { ...describeMessage('ack', clientFrames.ack, clientExamples.ack), replies: ['error'] },
  ],
};
