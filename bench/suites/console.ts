import { openHistoryDatabase } from '../history/database.ts';
import { openHttpPool } from '../load/http-client.ts';
import { percentiles } from '../load/percentiles.ts';
import { runLoad } from '../load/run-load.ts';
import { createMembers } from '../../scripts/parts/population.ts';
import { type Bench, startService } from '../start/service.ts';

const agents = 200;
const threads = 10_000;
const longThread = 100_000;
const warmUpRequests = 20;
/** As in generated histories. */
const messageStepMs = 30_000;

/** What the console reads for a person with 200 agents: conversations, a long thread, and missing answers. One request in flight. */
export async function measureConsole(bench: Bench) {
  const { options, log, signal, onEnd } = bench;
  const { requests } = options.history;
  const messages = options.history.messages.at(-1) ?? 0;
  const { core, base } = await startService(bench);
  const scopes = ['threads:read', 'conversations:read'] as const;
  const members = await createMembers(core, 'console', agents, { perOwner: agents, scopes });
  const load = async (ids: readonly string[], count: number, total: number) => {
    const [reader_id = '', ...agent_ids] = ids;
    const history = await openHistoryDatabase({
      url: core.config.DATABASE_URL,
      reader_id,
      agent_ids,
      threads: 1,
      other_threads: count - 1,
      start: Date.now() - total * messageStepMs,
      signal,
    });
    await history.growTo(total);
    const [longest] = history.threads();
    await history.close();
    return longest?.id ?? '';
  };
  const ids = members.map(({ id }) => id);
  await load(ids, threads, messages);
  const long = await load(ids.slice(0, 3), 1, longThread);
  log(`${threads} threads with ${messages} messages, and one with ${longThread}`);
  const pool = openHttpPool(base);
  onEnd(pool.close);
  const token = members[0]?.token ?? '';
  const pages = [];
  for (const [name, path] of [
    ['conversations', '/v1/conversations?limit=20'],
    ['conversations, waiting for others', '/v1/conversations?limit=20&waiting=others'],
    ['conversations, unread', '/v1/conversations?limit=20&unread=true'],
    ['the long thread, last page', `/v1/conversations/${long}`],
    ['missing answers', '/v1/waits'],
  ] as const) {
    let rows = 0;
    const read = async () => {
      const page = JSON.parse(await pool.request({ path, token })) as Record<string, unknown[] | undefined>;
      rows = (page['conversations'] ?? page['messages'] ?? page['waits'] ?? []).length;
    };
    await runLoad({ calls: warmUpRequests, signal }, read);
    const { ms } = await runLoad({ calls: requests, signal }, read);
    pages.push({ name, rows, ms: percentiles(ms) });
  }
  return { agents, threads, messages, long_thread: longThread, requests, pages };
}
