import type { History } from '../history.ts';
import type { MessageData, ParsedEvent, ParsedFeed } from './event-data.ts';
import { hasSameValues, type Violation } from './violation.ts';

/** The events that all members of a thread get, in the order of their transactions, which lock the thread. */
export type LogEvent = Extract<
  ParsedEvent,
  {
    type:
      | 'message.created'
      | 'message.read'
      | 'message.handled'
      | 'thread.created'
      | 'thread.member_added'
      | 'thread.member_removed';
  }
>;

export interface LogEntry {
  event: LogEvent;
  /** The members that get the event. */
  recipients: readonly string[];
}

/** The events of a thread as its first member, which is never removed, got them. */
export interface ThreadLog {
  thread_id: string;
  /** The first member. */
  owner_id: string;
  entries: LogEntry[];
  messages: MessageData[];
  /** The members at the end. */
  members: string[];
  violations: Violation[];
}

const logTypes: ReadonlySet<string> = new Set([
  'message.created',
  'message.read',
  'message.handled',
  'thread.created',
  'thread.member_added',
  'thread.member_removed',
]);

export function isLogEvent(event: ParsedEvent): event is LogEvent {
  return logTypes.has(event.type);
}

export function threadOf({ type, data }: LogEvent): string {
  return type === 'thread.created' ? data.id : data.thread_id;
}

/** The logs of all threads that exist before the run or that the load opened, by thread. */
export function buildThreadLogs(
  { threads, sends }: Pick<History, 'threads' | 'sends'>,
  feeds: readonly ParsedFeed[],
): Map<string, ThreadLog> {
  const logs = new Map<string, ThreadLog>();
  const add = (thread_id: string, owner_id: string, members: readonly string[]) => {
    if (logs.has(thread_id)) return;
    const log = { thread_id, owner_id, entries: [], messages: [], members: [...members], violations: [] };
    logs.set(thread_id, log);
  };
  for (const { thread_id, members } of threads) add(thread_id, members[0] ?? '', members);
  for (const { kind, agent_id, others, answers } of sends)
    if (kind === 'opening' && answers[0]) add(answers[0].thread_id, agent_id, [agent_id, ...others]);
  for (const { agent_id, events } of feeds) {
    for (const event of events) {
      if (!isLogEvent(event)) continue;
      const log = logs.get(threadOf(event));
      if (log?.owner_id === agent_id) append(log, event);
    }
  }
  return logs;
}

/** Adds an event to the log: applies it to the members and checks that it follows from the events before. */
function append(log: ThreadLog, event: LogEvent): void {
  const { thread_id, entries, messages, members, violations } = log;
  const report = (kind: Violation['kind'], detail: string) => void violations.push({ kind, detail });
  const requireMember = (id: string) => {
    if (!members.includes(id)) report('foreign', `${event.type} of ${id} in ${thread_id}, not a member`);
  };
  let recipients = [...members];
  if (event.type === 'message.created') {
    const { id, sequence, sender } = event.data;
    const last = messages.at(-1)?.sequence ?? 0;
    if (sequence !== last + 1) {
      const kind = sequence <= last ? 'out of order' : 'hole';
      report(kind, `message ${id} of ${thread_id}: ${sequence} follows ${last}`);
    }
    requireMember(sender.id);
    messages.push(event.data);
  } else if (event.type === 'message.read' || event.type === 'message.handled') {
    requireMember(event.data.agent.id);
  } else if (event.type !== 'thread.created') {
    const { id } = event.data.member;
    const isAddition = event.type === 'thread.member_added';
    if (isAddition === members.includes(id)) report('doubled', `${event.type} of ${id} in ${thread_id}`);
    log.members = isAddition ? [...members, id] : members.filter((member) => member !== id);
    if (isAddition) recipients = [...log.members];
    const { members: listed, last_sequence } = event.data.thread;
    const listedIds = listed.map((member) => member.id);
    if (!hasSameValues(listedIds, log.members)) {
      const detail = `${event.type} of ${id} in ${thread_id} lists ${listedIds.join(' ')}, not ${log.members.join(' ')}`;
      report('wrong members', detail);
    }
    if (last_sequence !== messages.length) {
      const detail = `${event.type} of ${id} in ${thread_id} has last_sequence ${last_sequence}, not ${messages.length}`;
      report('changed', detail);
    }
  }
  entries.push({ event, recipients });
}
