import { wantsNoReply } from '../domain/threads.ts';
import type { EventType } from './list.ts';

interface OccurredEvent {
  id: string;
  type: EventType;
  created_at: number;
  data: object;
  traceparent?: string | null | undefined;
}

/** An event as MCP clients get it (`EventOccurrence` of the draft extension Events), without its cursor. */
export function toOccurrence({ id, type, created_at, data, traceparent }: OccurredEvent): object {
  const isNoReply = type === 'message.created' && 'metadata' in data && wantsNoReply(data.metadata);
  const meta = {
    ...(isNoReply && { reply_expected: false }),
    ...(typeof traceparent === 'string' && { traceparent }),
  };
  return {
    eventId: id,
    name: type,
    timestamp: new Date(created_at).toISOString(),
    data,
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}
