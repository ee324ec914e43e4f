import type { ParsedEvent, ParsedFeed } from './event-data.ts';
import type { ThreadLog } from './thread-log.ts';

/** What the events of a thread say about the marks of one member, in the order of that member's feed. */
export interface MemberMarks {
  agent_id: string;
  /** The read mark at the end. */
  read: number;
  /** The delivered mark at the end: every message of others in the feed was delivered. */
  delivered: number;
  /** The last sequence when it joined for the last time; 0 for a first member. */
  joined: number;
  /** Marks of message.read that were not after the read mark before. */
  backward: number[];
  /** The marks that its feed tells of other members, by agent. */
  known: Map<string, number>;
  /** Marks of message.delivered in its feed that were not after the one before. */
  repeated: { agent_id: string; up_to_sequence: number }[];
}

/**
 * Applies the events of a thread to the marks of a member. A read mark moves with message.read and with a message of the member itself,
 * if no message of others is unread before it; a new member starts at the last message.
 */
export function computeMarks(
  { agent_id, events }: ParsedFeed,
  { thread_id, messages }: ThreadLog,
): MemberMarks {
  const marks: MemberMarks = {
    agent_id,
    read: 0,
    delivered: 0,
    joined: 0,
    backward: [],
    known: new Map(),
    repeated: [],
  };
  const delivered = new Map<string, number>();
  const others = messages.filter(({ sender }) => sender.id !== agent_id).map(({ sequence }) => sequence);
  const addKnown = (id: string, mark: number) =>
    void marks.known.set(id, Math.max(mark, marks.known.get(id) ?? 0));

  function apply(event: ParsedEvent): void {
    if (event.type === 'message.created') {
      const { sequence, sender } = event.data;
      if (sender.id !== agent_id) marks.delivered = Math.max(marks.delivered, sequence);
      else if (!others.some((other) => other > marks.read && other < sequence)) marks.read = sequence;
    } else if (event.type === 'message.read') {
      const { agent, up_to_sequence } = event.data;
      addKnown(agent.id, up_to_sequence);
      if (agent.id !== agent_id) return;
      if (up_to_sequence <= marks.read) marks.backward.push(up_to_sequence);
      marks.read = Math.max(marks.read, up_to_sequence);
    } else if (event.type === 'message.delivered') {
      for (const { id, up_to_sequence } of event.data.members) {
        if (up_to_sequence <= (delivered.get(id) ?? 0)) marks.repeated.push({ agent_id: id, up_to_sequence });
        delivered.set(id, up_to_sequence);
        addKnown(id, up_to_sequence);
      }
    } else if (event.type === 'thread.member_added' && event.data.member.id === agent_id) {
      const { last_sequence } = event.data.thread;
      Object.assign(marks, { read: last_sequence, delivered: last_sequence, joined: last_sequence });
    }
  }

  for (const event of events) {
    if ('thread_id' in event.data && event.data.thread_id === thread_id) apply(event);
  }
  marks.delivered = Math.max(marks.delivered, marks.read);
  return marks;
}
