import { isDeepStrictEqual } from 'node:util';
import type { TaskState } from '../packages/core/src/domain/tasks.ts';

/** The `data` of an event, or another record of the service, as it was received. */
export type EventData = Readonly<Record<string, unknown>>;

/** An event as it was received, over any transport. */
export interface ReceivedEvent {
  event_id: string;
  type: string;
  /** In milliseconds; null over MCP, whose notifications do not carry it. */
  created_at: number | null;
  data: EventData;
}

/** An update of a task as a stream of A2A told it: the generation, and the state or that there is a result. */
export interface ToldUpdate {
  generation: number;
  update: TaskState | 'result';
}

/** A task as GetTask of A2A gives it. */
export interface ReadTask {
  task_id: string;
  thread_id: string;
  state: TaskState;
  generation: number;
  /** How many artifacts it has. */
  results: number;
}

/** Fields of an attachment that the scan changes after the message was sent. */
const scanFields: ReadonlySet<string> = new Set(['scan_status', 'scanned_by']);

function withoutScan(attachment: unknown): unknown {
  if (typeof attachment !== 'object' || attachment === null) return attachment;
  return Object.fromEntries(Object.entries(attachment).filter(([name]) => !scanFields.has(name)));
}

function toComparable(data: EventData): EventData {
  const { attachments } = data;
  return Array.isArray(attachments) ? { ...data, attachments: attachments.map(withoutScan) } : data;
}

/** Whether two records are equal, except for the scan results of their attachments. The order of fields does not matter. */
export function isSameData(one: EventData, other: EventData): boolean {
  return one === other || isDeepStrictEqual(toComparable(one), toComparable(other));
}

/** Whether these are the same event with the same data. */
export function isSameEvent(one: ReceivedEvent, other: ReceivedEvent): boolean {
  const { event_id, type, created_at, data } = other;
  if (one.event_id !== event_id || one.type !== type) return false;
  const hasOtherTime = one.created_at !== null && created_at !== null && one.created_at !== created_at;
  return !hasOtherTime && isSameData(one.data, data);
}

/** Whether the agent caused a change of a task itself: then its webhooks do not get the event. */
export function isOwnTaskChange(
  { type, data }: Pick<ReceivedEvent, 'type' | 'data'>,
  agent_id: string,
): boolean {
  const { by } = data;
  return type === 'task.updated' && typeof by === 'object' && by !== null && 'id' in by && by.id === agent_id;
}

/** The id of the object of an event, for descriptions: the message, the task, the thread, or the request. */
export function subjectOf({ type, data }: Pick<ReceivedEvent, 'type' | 'data'>): string {
  const { id, request_id, thread_id, attachment_id, task } = data;
  const taskId: unknown = Object(task).id;
  const subject = type === 'attachment.scanned' ? attachment_id : (id ?? taskId ?? request_id ?? thread_id);
  return typeof subject === 'string' ? subject : 'no object';
}

/**
 * Returns a function that replaces the data of an event by equal data of the same event, so that a run with many readers keeps each
 * event once.
 */
export function createEventPool(): <Event extends ReceivedEvent>(event: Event) => Event {
  const first = new Map<string, EventData>();
  return (event) => {
    const data = first.get(event.event_id);
    if (!data) first.set(event.event_id, event.data);
    return data && isDeepStrictEqual(data, event.data) ? { ...event, data } : event;
  };
}
