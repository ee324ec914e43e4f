import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { startEventFollower } from '../../clients/mcp/event-follower.ts';
import { pollEvents } from '../../clients/mcp/events.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { type McpInstance, startMcpInstance } from '../../integration/mcp/instance.ts';

let database: string;
let stable: McpInstance;
beforeAll(async () => {
  database = (await createTestDatabase()).url;
  stable = await startMcpInstance(database, { heartbeat_ms: 50 });
});
afterAll(() => stable.close());

const name = 'message.created';
const count = 300;
const batch = 10;

test.each(['poll', 'stream'] as const)(
  'a %s client that dies and loses its connection and its process misses nothing',
  async (mode) => {
    const [reader, writer] = [await stable.token(`reader.${mode}`), await stable.token(`writer.${mode}`)];
    const { value } = await callToolRaw(stable.url, writer, 'create_thread', {
      with_handle: `reader.${mode}`,
    });
    const { cursor } = await pollEvents(stable.url, reader, { name, cursor: null });
    let other = await startMcpInstance(database, { heartbeat_ms: 50 });
    onTestFinished(() => other.close());
    let turn = 0;
    const follower = startEventFollower({
      url: () => ((turn += 1) % 2 === 0 ? stable.url : other.url),
      token: reader,
      mode,
      name,
      cursor,
      failureRate: 0.05,
    });
    for (let n = 0; n < count; n += batch) {
      const texts = Array.from({ length: batch }, (_, index) => `${n + index}`);
      await Promise.all(
        texts.map((content) =>
          callToolRaw(stable.url, writer, 'send_message', { thread_id: value['id'], content }),
        ),
      );
      if (n !== count / 2) continue;
      await other.close();
      other = await startMcpInstance(database, { heartbeat_ms: 50 });
    }
    await expect.poll(() => follower.seen().size).toBe(count);
    const report = await follower.stop();
    expect(report).toMatchObject({ truncated: 0, deaths: expect.toSatisfy((deaths) => deaths > 0) });
    const sent = await stable.query(
      `select f.event_id from feed f join agents a on a.id = f.agent_id join events e on e.id = f.event_id
       where a.canonical_handle = $1 and e.type = 'message.created' order by f.number`,
      [`reader.${mode}`],
    );
    // In order: each event comes for the first time after all before it.
    expect([...follower.seen()]).toEqual(sent.map((row) => Object(row).event_id));
  },
  120_000,
);
