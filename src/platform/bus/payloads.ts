import type { BusMessage } from './bus.ts';

/** PostgreSQL refuses a notification of 8000 bytes. */
const maxPayloadBytes = 7_999;

/**
 * Encodes a message as `<topic length>,<body length>:<topic><body>`, lengths in UTF-16 code units, without escaping.
 * @throws when it is too large for a notification.
 */
export function packMessage({ topic, body }: BusMessage): string {
  const packed = `${topic.length},${body.length}:${topic}${body}`;
  const size = Buffer.byteLength(packed);
  if (size > maxPayloadBytes) throw new Error(`A bus message of ${size} bytes is too large: ${topic}`);
  return packed;
}

/** Packs encoded messages, in order, into as few payloads as possible: by default of the size of a notification. */
export function packPayloads(packed: readonly string[], maxBytes: number = maxPayloadBytes): string[] {
  const payloads: string[] = [];
  let payload = '';
  let bytes = 0;
  for (const message of packed) {
    const size = Buffer.byteLength(message);
    if (bytes + size > maxBytes) {
      payloads.push(payload);
      payload = '';
      bytes = 0;
    }
    payload += message;
    bytes += size;
  }
  if (payload) payloads.push(payload);
  return payloads;
}

/**
 * Decodes the messages of a notification.
 * @throws when the payload is not one.
 */
export function unpackMessages(payload: string): BusMessage[] {
  const messages: BusMessage[] = [];
  const header = /(\d+),(\d+):/y;
  for (let at = 0; at < payload.length;) {
    header.lastIndex = at;
    const match = header.exec(payload);
    if (!match) throw new Error('A notification on the channel of the bus is not of the bus');
    const topicEnd = header.lastIndex + Number(match[1]);
    at = topicEnd + Number(match[2]);
    messages.push({ topic: payload.slice(header.lastIndex, topicEnd), body: payload.slice(topicEnd, at) });
  }
  return messages;
}
