import type { History, ReadMark, StoredThread } from '../history.ts';
import type { ParsedFeed } from './event-data.ts';
import { computeMarks, type MemberMarks } from './marks.ts';
import type { ThreadLog } from './thread-log.ts';
import { hasSameValues, type Violation } from './violation.ts';

/**
 * Checks read marks, delivered marks and unread counts: every acknowledged mark_read was applied, its event and no other one was
 * written, the stored receipts are those that the events give, and every sender was told of the deliveries of its messages.
 */
export function* checkReceipts(
  history: History,
  feeds: readonly ParsedFeed[],
  logs: ReadonlyMap<string, ThreadLog>,
): Generator<Violation> {
  for (const log of logs.values()) {
    const { thread_id } = log;
    const marks = feeds.map((feed) => computeMarks(feed, log));
    const members = marks.filter(({ agent_id }) => log.members.includes(agent_id));
    const attempts = history.marks.filter((mark) => mark.thread_id === thread_id);
    for (const { agent_id, backward, repeated } of marks) {
      for (const mark of backward)
        yield report(`message.read of ${agent_id} in ${thread_id} up to ${mark}, which was read before`);
      for (const { agent_id: id, up_to_sequence } of repeated)
        yield report(
          `message.delivered of ${id} up to ${up_to_sequence} in ${thread_id} again, to ${agent_id}`,
        );
    }
    yield* checkReadMarks(log, members, attempts);
    for (const thread of history.stored)
      if (thread.thread_id === thread_id) yield* checkStored(thread, log, members);
    yield* checkDeliveries(log, members);
  }
}

const report = (detail: string): Violation => ({ kind: 'wrong receipt', detail });

function* checkReadMarks(
  { thread_id, entries }: ThreadLog,
  members: readonly MemberMarks[],
  attempts: readonly ReadMark[],
): Generator<Violation> {
  // Handled messages count as read.
  const handled = entries.flatMap(({ event: { type, data } }) =>
    type === 'message.handled' ? { agent_id: data.agent.id, up_to_sequence: data.up_to_sequence } : [],
  );
  const causes = [...attempts, ...handled];
  for (const { event } of entries) {
    if (event.type !== 'message.read') continue;
    const { agent, up_to_sequence } = event.data;
    const hasCause = causes.some(
      (cause) => cause.agent_id === agent.id && cause.up_to_sequence === up_to_sequence,
    );
    if (!hasCause)
      yield report(`message.read of ${agent.id} in ${thread_id} up to ${up_to_sequence}, without a request`);
  }
  for (const { agent_id, read } of members) {
    const own = attempts.filter(
      (attempt) => attempt.agent_id === agent_id && attempt.acknowledged_at !== null,
    );
    const requested = Math.max(0, ...own.map(({ up_to_sequence }) => up_to_sequence));
    if (requested > read)
      yield report(`${agent_id} marked ${thread_id} as read up to ${requested}; its events say ${read}`);
  }
}

function* checkStored(
  { thread_id, agent_id, receipts, unread_count }: StoredThread,
  { messages }: ThreadLog,
  members: readonly MemberMarks[],
): Generator<Violation> {
  const where = `in ${thread_id} as ${agent_id} lists it`;
  const listed = receipts.map((receipt) => receipt.agent_id);
  const wanted = members.map((member) => member.agent_id);
  if (!hasSameValues(listed, wanted))
    yield {
      kind: 'wrong members',
      detail: `receipts ${where}: ${listed.join(' ')}, not ${wanted.join(' ')}`,
    };
  for (const { agent_id: id, read, delivered } of members) {
    const receipt = receipts.find((each) => each.agent_id === id);
    if (!receipt) continue;
    if (receipt.read !== read)
      yield report(`read mark of ${id} ${where}: ${receipt.read}; its events say ${read}`);
    if (receipt.delivered !== delivered)
      yield report(`delivered mark of ${id} ${where}: ${receipt.delivered}; it received ${delivered}`);
  }
  const own = members.find((member) => member.agent_id === agent_id);
  if (!own) return;
  const unread = messages.filter(({ sequence, sender }) => sequence > own.read && sender.id !== agent_id);
  if (unread_count !== unread.length) {
    const detail = `${where}: ${unread_count}; ${unread.length} messages of others are after the mark ${own.read}`;
    yield { kind: 'wrong unread count', detail };
  }
}

/** Checks that each member knows from its own events how far the others received its messages, and nothing beyond. */
function* checkDeliveries(
  { thread_id, messages }: ThreadLog,
  members: readonly MemberMarks[],
): Generator<Violation> {
  for (const sender of members) {
    for (const member of members) {
      if (member === sender) continue;
      const known = sender.known.get(member.agent_id) ?? 0;
      const what = `${member.agent_id} received ${thread_id} up to`;
      if (known > member.delivered)
        yield report(`${what} ${member.delivered}; ${sender.agent_id} was told ${known}`);
      const since = Math.max(sender.joined, member.joined);
      const own = messages.filter(
        ({ sender: { id }, sequence }) =>
          id === sender.agent_id && sequence > since && sequence <= member.delivered,
      );
      const last = own.at(-1)?.sequence ?? 0;
      if (known < last)
        yield report(
          `${what} ${member.delivered}; ${sender.agent_id}, the sender of ${last}, was told ${known}`,
        );
    }
  }
}
