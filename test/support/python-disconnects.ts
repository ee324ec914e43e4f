import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { createCredential } from '../../src/services/auth/credentials.ts';
import { type PythonProcess, startPython } from './python.ts';
import { startCuttingProxy } from './servers/cutting-proxy.ts';
import { allTestScopes, type TestAgent, type TestService } from './service.ts';

/** Prints the stored position, then the id of every event that it handles. */
const reader = `
import os
from agent_messaging import Client, ClientCredentials, FileCursor

cursor = FileCursor(os.environ["CURSOR"], sync=False)
print("stored", cursor.load() or "")
auth = ClientCredentials(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
client = Client(os.environ["URL"], auth)
for event in client.events(cursor):
    print(event["id"], event["cursor"])
`;

export interface Disconnects {
  messages: number;
  /** More groups are sent until this many connections were cut: how many it takes depends on how responses are split. */
  cuts: number;
  /** Messages are sent in groups; a group follows when the reader has handled the one before. */
  groupSize: number;
  /** How often the reader is killed. */
  kills: number;
}

/**
 * Sends messages to an agent whose reader, in Python, loses its connection at random places and is sometimes killed. Then compares what the
 * reader handled with the feed.
 */
export async function runDisconnects(
  service: TestService,
  { messages, cuts, groupSize, kills }: Disconnects,
) {
  const [writer, agent] = await Promise.all([service.agent(), service.agent()]);
  const { client_id, client_secret } = await service.write((work) =>
    createCredential(work, { handle: agent.handle, scopes: allTestScopes }),
  );
  const folder = await mkdtemp(join(tmpdir(), 'ams-python-'));
  // Up to about one and a half groups of events: more than a third of the responses is cut, and a reader rarely has to back off for long.
  const proxy = await startCuttingProxy(service.url, groupSize * 1_200);
  const env = {
    URL: proxy.url,
    CLIENT_ID: client_id,
    CLIENT_SECRET: client_secret,
    CURSOR: join(folder, 'cursor'),
  };
  const handled = new Set<string>();
  const startReader = () =>
    startPython(reader, env, { onLine: (line) => line.startsWith('evt_') && handled.add(toId(line)) });
  const readers: PythonProcess[] = [startReader()];
  const groups = messages / groupSize;
  try {
    const thread = await openThread(service, writer, agent);
    let group = 0;
    while (group < groups || proxy.cuts() < cuts) {
      group += 1;
      // A token ends before a long run does; the reader renews its own.
      const token = await service.token(writer.handle);
      const sends = Array.from({ length: groupSize }, (_, index) =>
        service.post({ token }, `/threads/${thread}/messages`, { content: `${group}.${index}` }),
      );
      if (Math.floor((Math.min(group, groups) * kills) / groups) > readers.length - 1) {
        readers.at(-1)?.kill('SIGKILL');
        await readers.at(-1)?.closed;
        readers.push(startReader());
      }
      expect((await Promise.all(sends)).map(({ status }) => status)).toEqual(sends.map(() => 201));
      const expected = group * groupSize + 1; // and the event of the thread
      const areHandled = () => expect(handled.size, readers.at(-1)?.errors()).toBe(expected);
      await vi.waitFor(areHandled, { timeout: 60_000, interval: 5 });
    }
    const feed = await readFeed(service, await service.token(agent.handle));
    const messagesSent = group * groupSize;
    return { cuts: proxy.cuts(), kills: readers.length - 1, messagesSent, ...compare(feed, readers) };
  } finally {
    readers.at(-1)?.kill('SIGKILL');
    await readers.at(-1)?.closed;
    await proxy.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const toId = (line: string): string => line.split(' ')[0] ?? '';
const readIds = (process: PythonProcess): string[] => process.lines().slice(1).map(toId);

async function openThread(service: TestService, writer: TestAgent, agent: TestAgent): Promise<string> {
  return service.thread(writer, agent);
}

interface Entry {
  id: string;
  cursor: string;
}

async function readFeed(service: TestService, token: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor = 'earliest';
  for (;;) {
    const { body } = await service.get({ token }, `/events?limit=100&cursor=${cursor}`);
    entries.push(...body.events.map((event: Entry) => ({ id: event.id, cursor: event.cursor })));
    if (body.complete) return entries;
    cursor = body.cursor;
  }
}

/** Every reader must handle the entries after the position that it found, each once and in order. */
function compare(feed: readonly Entry[], readers: readonly PythonProcess[]) {
  const ids = feed.map(({ id }) => id);
  const handled = readers.map(readIds);
  const seen = new Set(handled.flat());
  const repeats = readers.slice(1).map((process, index) => {
    const stored = process.lines()[0]?.split(' ')[1];
    const start = feed.findIndex(({ cursor }) => cursor === stored) + 1;
    return ids.indexOf(handled[index]?.at(-1) ?? '') + 1 - start;
  });
  const misplaced = readers.flatMap((process, index) => {
    const stored = process.lines()[0]?.split(' ')[1];
    const start = feed.findIndex(({ cursor }) => cursor === stored) + 1;
    const own = handled[index] ?? [];
    return own.filter((id, place) => id !== ids[start + place]);
  });
  return {
    events: feed.length,
    lost: ids.filter((id) => !seen.has(id)).length,
    /** Handled out of order, or handled again although the position after it was stored. */
    misplaced: misplaced.length,
    /** Handled twice because the reader was killed before it stored the position: at most one for each kill. */
    repeatedAfterKill: Math.max(0, ...repeats),
  };
}
