import { expect, vi } from 'vitest';
import { rangeLength } from '../../../packages/core/src/domain/feed/position-ranges.ts';
import type { Core } from '../../../src/compose.ts';
import { requestRest } from '../../clients/rest.ts';
import type { Conversation, Member } from './cluster.ts';
import type { Acknowledged } from './message-load.ts';

interface Message {
  id: string;
  sequence: number;
  content: string;
}

/** Recovery takes at most a takeover, the grace period of the outbox and two sweeps, on a busy machine. */
const waitOptions = { timeout: 45_000, interval: 100 };

/** Waits until the outbox is empty, then compares threads, feeds and the search index with the acknowledged messages. */
export async function expectExactlyOnce(
  { core, url }: { core: Core; url: string },
  { thread_id, members }: Conversation,
  acknowledged: readonly Omit<Acknowledged, 'at'>[],
): Promise<void> {
  await vi.waitFor(async () => expect((await core.db.outbox.readAge()).rows).toBe(0), waitOptions);
  const stored = await storedMessages(url, thread_id, members[0]);
  const feeds = await Promise.all(members.map((member) => feedReport(core, url, member, stored)));
  const byId = new Map(stored.map((message) => [message.id, message]));
  const report = {
    stored: stored.length,
    lost: acknowledged.filter(({ id, sequence, content }) => {
      const found = byId.get(id);
      return found?.sequence !== sequence || found.content !== content;
    }).length,
    doubled: stored.length - new Set(stored.map(({ content }) => content)).size,
    out_of_sequence: stored.filter(({ sequence }, index) => sequence !== index + 1).length,
    unindexed: await count(
      core,
      'select m.id from messages m left join message_search s on s.message_id = m.id where s.message_id is null',
    ),
    feeds,
  };
  const feed = { missing: 0, repeated: 0, foreign: 0, out_of_order: 0, number_holes: 0 };
  expect(report).toEqual({
    stored: acknowledged.length,
    lost: 0,
    doubled: 0,
    out_of_sequence: 0,
    unindexed: 0,
    feeds: members.map(() => feed),
  });
}

/** The whole thread as its members list it, oldest first. */
async function storedMessages(
  url: string,
  thread_id: string,
  member: Member | undefined,
): Promise<Message[]> {
  const messages: Message[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ order: 'asc', limit: '100', ...(cursor && { cursor }) });
    const page = await read(`${url}/v1/threads/${thread_id}/messages?${query.toString()}`, member?.token);
    messages.push(...page.messages);
    cursor = page.next_cursor;
  } while (cursor);
  return messages;
}

async function feedReport(core: Core, url: string, member: Member, stored: readonly Message[]) {
  const events: { id: string; type: string; data: Message }[] = [];
  let cursor = member.start;
  for (let complete = false; !complete;) {
    const query = new URLSearchParams({ limit: '100', cursor });
    const page = await read(`${url}/v1/events?${query.toString()}`, member.token);
    expect(page).not.toHaveProperty('gap');
    events.push(...page.events);
    ({ cursor, complete } = page);
  }
  // Reading a feed adds receipts to the feeds of the senders.
  const messages = events.filter(({ type }) => type !== 'message.delivered');
  const sequences = messages.map(({ data }) => data.sequence);
  const ids = new Set(messages.map(({ data }) => data.id));
  const known = new Set(stored.map(({ id }) => id));
  return {
    missing: stored.filter(({ id }) => !ids.has(id)).length,
    repeated: events.length - new Set(events.map(({ id }) => id)).size,
    foreign: messages.filter(({ type, data }) => type !== 'message.created' || !known.has(data.id)).length,
    out_of_order: sequences.filter((sequence, index) => sequence !== index + 1).length,
    number_holes: await count(
      core,
      // Numbers begin again after each takeover, in the next range.
      `select number from (
         select number % ${rangeLength} as number, row_number() over (partition by number / ${rangeLength} order by number) as place
         from feed where agent_id = '${member.id}'
       ) numbered where number <> place`,
    ),
  };
}

// The callers know the response types.
// oxlint-disable-next-line typescript/no-explicit-any
async function read(url: string, token: string | undefined): Promise<any> {
  const answer = await requestRest('GET', url, { token });
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${answer.text}`);
  return answer.body;
}

async function count(core: Core, query: string): Promise<number> {
  const rows = await core.database.query({ text: query }, []);
  return rows.length;
}
