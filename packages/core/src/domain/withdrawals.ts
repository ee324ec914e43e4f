import { parseDifference, toKept } from './kept-answers.ts';

/** The name of the job that completes the withdrawal of a message. */
export const withdrawalJob = 'withdraw-message';

/** Bus topic of messages that were withdrawn or replaced: no process keeps their events in memory. The body is the id of the message. */
export const withdrawnTopic = 'withdrawn';

/** The content of a withdrawn message. Its place, sender and time stay. */
export const withdrawnContent = {
  content: '',
  content_type: 'text' as const,
  attachments: [],
  metadata: {},
};

/** Returns a stored answer in which every record of a message is as it is after the withdrawal. A message is an answer that can be a difference. */
export function withdrawInAnswer(kept: string, message_id: string, withdrawn_at: number): string {
  const own = parseDifference(kept);
  if (!own) return JSON.stringify(withdrawIn(JSON.parse(kept), message_id, withdrawn_at));
  return 'id' in own && own.id === message_id ? toKept({ ...own, ...withdrawnContent, withdrawn_at }) : kept;
}

/** Returns JSON in which every record of a message is as it is after the withdrawal. */
export function withdrawIn(json: unknown, message_id: string, withdrawn_at: number): unknown {
  if (Array.isArray(json)) return json.map((item) => withdrawIn(item, message_id, withdrawn_at));
  if (typeof json !== 'object' || json === null) return json;
  if ('id' in json && json.id === message_id && 'content' in json)
    return { ...json, ...withdrawnContent, withdrawn_at };
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [name, withdrawIn(value, message_id, withdrawn_at)]),
  );
}

interface LaterChanges {
  withdrawn_at?: number | null;
  replaced_by?: string | null;
}

/** Whether its sender withdrew or replaced a message: it needs no delivery, no claim and no receipts. */
export const isObsolete = ({ withdrawn_at, replaced_by }: LaterChanges): boolean =>
  typeof withdrawn_at === 'number' || typeof replaced_by === 'string';
