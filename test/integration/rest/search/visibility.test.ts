import { outcomeOf } from '../../../clients/rest.ts';
import { describe, expect, test } from 'vitest';
import { minIdAt, newId } from '../../../../packages/core/src/domain/ids.ts';
import { messageSearchRepository } from '../../../../src/repositories/messages/search.ts';
import type { TestAgent } from '../../../support/service.ts';
import { type Query, type SearchHit, startSearchService } from './setup.ts';
import { use } from '../../../support/use.ts';

const on = use(startSearchService);

/** A query without filters except the threads. */
const everything = {
  from_id: 'msg_0',
  below_id: 'msg_Z',
  after: 0,
  before: Number.MAX_SAFE_INTEGER,
  sender: null,
  with_attachment: false,
};

describe('access', () => {
  test('only members find the messages of a thread, and only while they are members', async () => {
    const [ann, bob, eve] = await on.createAgents();
    const secret = await on.open(ann, bob);
    await on.send(ann, secret, 'a walnut among us');
    const common = await on.open(ann, bob, eve);
    await on.send(ann, common, 'a walnut for all');
    await on.indexed();
    expect(await on.searchContents(bob, { q: 'walnut' })).toEqual(['a walnut for all', 'a walnut among us']);
    expect(await on.searchContents(eve, { q: 'walnut' })).toEqual(['a walnut for all']);
    expect(await on.searchContents(eve, { q: 'walnut', from: ann.handle })).toEqual(['a walnut for all']);
    expect(await on.searchContents(eve, { q: 'walnut', counterpart: bob.id })).toEqual(['a walnut for all']);

    const leave = { text: 'delete from thread_members where thread_id = $1 and agent_id = $2' };
    await on.core.database.query(leave, [common, eve.id]);
    expect(await on.search(eve, { q: 'walnut' })).toEqual([]);
  });

  const ages = [0, 1, 2, 90, 3_000, 4_000, 90_000, 8e5, 9e5, 8e6, 8.1e6, 3e7, 9e7, 9.1e7, 3e8].map(
    (s) => s * 1000,
  );
  const places = ages.map((_, at) => at);

  test.each([
    ["'walnut'", "'walnut'", places.filter((at) => at % 2)],
    ["'old'", "'old'", places.filter((at) => at > 10)],
    ["'none'", "'none'", []],
    ["'sea' <-> 'salt'", "'sea' & 'salt'", places.filter((at) => at % 3 === 0)],
    ["'walnut' & !('sea' <-> 'salt')", "'walnut'", places.filter((at) => at % 2 && at % 3)],
  ] as const)(
    'a page of %s has the newest matches, from the latest messages or from older periods of the index',
    async (query, words, hits) => {
      const [ann, bob] = await on.createAgents();
      const thread = await on.open(ann, bob);
      const texts = ages.map((_, at) =>
        [at % 2 ? 'walnut' : 'hazelnut', at % 3 ? 'salt of the sea' : 'sea salt', at > 10 && 'old']
          .filter(Boolean)
          .join(' '),
      );
      const write = `with made as (
        insert into messages (id, thread_id, sequence, sender_id, content, content_type, created_at)
        select id, $1, 100 - at, $2, content, 'text', time
        from unnest($3::text[], $4::text[], $5::bigint[]) with ordinality r (id, content, time, at)
        returning id, content, created_at
      ) insert into message_search (message_id, thread_id, sender_id, document, version, created_at, indexed_at)
      select id, $1, $2, to_tsvector('simple', content), 1, created_at, created_at from made`;
      const times = ages.map((age) => Date.now() - age);
      const ids = times.map(
        (time) => `${minIdAt('message', time).slice(0, 14)}${newId('message').slice(14)}`,
      );
      await on.sql(write, [thread, ann.id, ids, texts, times]);

      const search = { ...everything, thread_ids: [thread] };
      for (const stretch of [1, 2, 3, 5, 15, 100]) {
        const messageSearch = messageSearchRepository(on.core.database, { scanned: stretch, planned: 200 });
        for (const filter of [
          { messages: 1 },
          { messages: 200 },
          { messages: 1_000 },
          { messages: 1_000, sender: ann.id },
        ]) {
          const filtered = { ...search, ...filter, query, words };
          const about = `${query}, ${JSON.stringify(filter)}, after ${stretch}`;
          for (const limit of [1, 2, 3, 6, 20]) {
            const found = await messageSearch.search(bob.id, { ...filtered, limit });
            const shown = found.map(({ id }) => ids.indexOf(id));
            expect(shown, `${about}, ${limit}`).toEqual(hits.slice(0, limit));
          }
          const part = { from_id: ids[12] ?? '', below_id: ids[3] ?? '', limit: 20 };
          const found = await messageSearch.search(bob.id, { ...filtered, ...part });
          const inPart = found.map(({ id }) => ids.indexOf(id));
          expect(inPart, `${about}, a part`).toEqual(hits.filter((at) => at > 3 && at <= 12));
        }
      }
    },
  );

  test('the row query returns nothing for a thread of others', async () => {
    const [ann, bob, eve] = await on.createAgents();
    const secret = await on.open(ann, bob);
    for (const content of ['a walnut', 'another walnut']) await on.send(ann, secret, content);
    await on.indexed();
    const query = "'walnut'";
    const search = { ...everything, thread_ids: [secret], query, words: query, limit: 10 };
    for (const scanned of [1, 100]) {
      for (const filter of [{ messages: 1 }, { messages: 200 }, { messages: 1_000 }]) {
        const messageSearch = messageSearchRepository(on.core.database, { scanned, planned: 200 });
        expect(await messageSearch.search(bob.id, { ...search, ...filter })).toHaveLength(2);
        expect(await messageSearch.search(eve.id, { ...search, ...filter })).toEqual([]);
      }
    }
  });

  test('a thread of others looks like an absent one, and a hidden agent like an absent one', async () => {
    const [ann, bob] = await on.createAgents();
    const hidden = await on.agent({ visibility: 'private' });
    const secret = await on.open(bob, await on.agent());
    const own = await on.open(ann, bob);
    await on.send(bob, own, 'a walnut');
    await on.indexed();
    const absent = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`;
    const answers = await Promise.all(
      [secret, absent, 'thd_x'].map((thread_id) => on.ask(ann, { q: 'walnut', thread_id })),
    );
    for (const { status, body } of answers)
      expect([status, body.error.code]).toEqual([404, 'THREAD_NOT_FOUND']);
    expect(new Set(answers.map(({ body }) => body.error.message)).size).toBe(1);
    for (const filter of ['from', 'counterpart']) {
      for (const ref of [hidden.handle, hidden.id, 'absent.at-all', `agt_${'0'.repeat(26)}`]) {
        const { status, text } = await on.ask(ann, { q: 'walnut', [filter]: ref });
        expect([status, text], `${filter} ${ref}`).toEqual([200, '{"results":[]}']);
      }
    }
  });
});

describe('filters', () => {
  test('narrow by thread, counterpart, sender, time and attachments', async () => {
    const [ann, bob, eve] = await on.createAgents();
    const withBob = await on.open(ann, bob);
    const withBoth = await on.open(ann, bob, eve);
    const first = await on.send(ann, withBob, 'acorn one');
    const second = await on.send(bob, withBob, 'acorn two');
    await on.send(eve, withBoth, 'acorn three');
    await on.indexed();
    const found = (filter: Query) => on.searchContents(ann, { q: 'acorn', ...filter });
    expect(await found({})).toEqual(['acorn three', 'acorn two', 'acorn one']);
    expect(await found({ thread_id: withBob })).toEqual(['acorn two', 'acorn one']);
    expect(await found({ counterpart: `@${eve.handle.toUpperCase()}` })).toEqual(['acorn three']);
    expect(await found({ counterpart: bob.id })).toEqual(['acorn three', 'acorn two', 'acorn one']);
    expect(await found({ counterpart: ann.handle })).toEqual([]);
    expect(await found({ counterpart: eve.id, thread_id: withBob })).toEqual([]);
    expect(await found({ from: bob.handle })).toEqual(['acorn two']);
    expect(await found({ from: ann.id })).toEqual(['acorn one']);
    expect(await found({ has: 'attachment' })).toEqual([]);

    const { created_at } = second;
    const later = await found({ after: created_at });
    const earlier = await found({ before: created_at });
    expect([...later, ...earlier]).toEqual(['acorn three', 'acorn two', 'acorn one']);
    expect(later).toContain('acorn two');
    expect(await found({ before: first.created_at })).toEqual([]);
    expect(await found({ after: created_at + 60_000 })).toEqual([]);
    expect(await found({ after: 999_999_999_999_999 })).toEqual([]);

    const attachment = `insert into attachments (id, uploader_id, message_id, storage_key, filename, content_type, size_bytes,
      sha256, created_at) values ($1, $2, $3, $1, 'a.txt', 'text/plain', 1, $4, 0)`;
    const values = [`att_${second.id.slice(4)}`, bob.id, second.id, '0'.repeat(64)];
    await on.sql(attachment, values);
    expect(await found({ has: 'attachment' })).toEqual(['acorn two']);
  });
});

describe('pages', () => {
  test('go from the newest to the oldest without gaps or duplicates during writes', async () => {
    const [ann, bob] = await on.createAgents();
    const thread = await on.open(ann, bob);
    const sent: string[] = [];
    for (let index = 0; index < 23; index += 1)
      sent.push((await on.send(bob, thread, `chestnut ${index}`)).id);
    await on.indexed();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await on.ask(ann, { q: 'chestnut', limit: 5, ...(cursor && { cursor }) });
      expect(page.body.results.length).toBeLessThanOrEqual(5);
      seen.push(...page.body.results.map((result: SearchHit) => result.message.id));
      cursor = page.body.next_cursor;
      expect(page.headers.get('link')).toBe(
        cursor ? `</v1/messages/search?q=chestnut&limit=5&cursor=${cursor}>; rel="next"` : null,
      );
      await on.send(bob, thread, 'chestnut of the meantime');
      await on.indexed();
    } while (cursor);
    expect(seen).toEqual(sent.toReversed());
  });

  test('have cursors that are valid for one agent, query and filter set', async () => {
    const [ann, bob] = await on.createAgents();
    const thread = await on.open(ann, bob);
    for (const content of ['hazel one', 'hazel two']) await on.send(ann, thread, content);
    await on.indexed();
    const { body } = await on.ask(ann, { q: 'hazel', limit: 1 });
    const cursor = body.next_cursor as string;
    expect(await on.searchContents(ann, { q: 'hazel', limit: 50, cursor })).toEqual(['hazel one']);
    for (const [agent, query] of [
      [bob, { q: 'hazel' }],
      [ann, { q: 'one' }],
      [ann, { q: 'hazel', thread_id: thread }],
      [ann, { q: 'hazel', from: ann.id }],
      [ann, { q: 'hazel', after: 1_700_000_000_000 }],
      [ann, { q: 'hazel', has: 'attachment' }],
      [ann, { q: 'hazel', cursor: `x${cursor}` }],
    ] as [TestAgent, Record<string, string>][]) {
      const answer = await on.ask(agent, { cursor, ...query });
      expect(outcomeOf(answer), JSON.stringify(query)).toBe('400 INVALID_CURSOR');
    }
  });

  test('include messages older than the latest messages of all agents', async () => {
    const [ann, bob] = await on.createAgents();
    const thread = await on.open(ann, bob);
    const old = await on.send(ann, thread, 'pinecone');
    const [sender, other] = await on.createAgents();
    const elsewhere = await on.open(sender, other);
    await on.send(sender, elsewhere, 'first');
    const fill = `with made as (
        insert into messages (id, thread_id, sequence, sender_id, content, content_type, created_at)
        select left($4, 14) || 'ZZZZ' || lpad(n::text, 12, '0'), $1, 1000 + n, $2, 'pinecone', 'text', $3
        from generate_series(1, 20100) n returning id, created_at
      ) insert into message_search (message_id, thread_id, sender_id, document, version, created_at, indexed_at)
      select id, $1, $2, '''pinecone'':1', 1, created_at, created_at from made`;
    await on.sql(fill, [elsewhere, sender.id, old.created_at, old.id]);
    await on.send(ann, thread, 'the last one');
    await on.indexed();
    expect((await on.search(ann, { q: 'pinecone' })).map(({ message }) => message.id)).toEqual([old.id]);
    expect(await on.search(sender, { q: 'pinecone', limit: 50 })).toHaveLength(50);
  });

  test('include the last message of a thread, also when a process with a slow clock sent it', async () => {
    const [ann, bob] = await on.createAgents();
    const thread = await on.open(ann, bob);
    const late = await on.send(ann, thread, 'beechnut');
    await on.indexed();
    // Simulates a sending process with a slow clock.
    const move = { text: 'update threads set last_message_at = last_message_at - 600000 where id = $1' };
    await on.core.database.query(move, [thread]);
    expect((await on.search(ann, { q: 'beechnut' })).map(({ message }) => message.id)).toEqual([late.id]);
  });
});
