import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readNextPart } from '../../../src/services/agents/export-records.ts';
import { runCliJson } from '../../clients/cli.ts';
import { readZip } from '../../support/unzip.ts';
import { createFolder, use } from '../../support/use.ts';
import { startAttachmentService } from '../attachments/setup.ts';

const service = use(() => startAttachmentService());

const record = z.looseObject({ kind: z.string() });
const toRecords = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => record.parse(JSON.parse(line)));

test('what an agent has besides conversations is exported in bounded parts, each record once', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  // Ten megabytes of requests, and records whose keys are no texts. Their days are in the future: old ones are removed.
  await service.sql(
    `insert into contact_requests (id, from_agent_id, to_agent_id, message, status, created_at)
     select 'creq_' || lpad(n::text, 4, '0'), $1, $2, repeat('x', 22000), 'rejected', n from generate_series(1, 450) n`,
    [bob.id, ann.id],
  );
  await service.sql(
    `insert into usage_days (sender_id, day, recipients, recipients_hash, messages, bytes, stopped_loops)
     select $1, 4e12::bigint + n / 9 * 86400000::bigint, array[$2], sha256(n::text::bytea), n, 1, 0 from generate_series(1, 430) n`,
    [ann.id, bob.id],
  );
  const parts: string[] = [];
  let at = { stage: 'belongings' as string, belonging: '["agent"]', thread_id: '', sequence: 0 };
  while (at.stage === 'belongings') {
    const step = await readNextPart(service.core, { ...at, stage: 'belongings', agent_id: ann.id });
    parts.push(step.text);
    at = step.position;
  }
  expect(Math.max(...parts.map((text) => text.length))).toBeLessThan(6_000_000);
  const records = toRecords(parts.join(''));
  const requests = records.filter(({ kind }) => kind === 'contact_request').map(({ id }) => id);
  expect(requests).toEqual(Array.from({ length: 450 }, (_, n) => `creq_${String(n + 1).padStart(4, '0')}`));
  const usage = records.filter(({ kind }) => kind === 'usage');
  expect(new Set(usage.map(({ messages }) => messages)).size).toBe(430);
  expect(usage).toHaveLength(430);
  const days = usage.map(({ day }) => Number(day));
  expect(days).toEqual(days.toSorted((a, b) => a - b));

  const { DATABASE_URL, DATA_DIR, SECRET_KEY } = service.core.config;
  const out = join(await createFolder(), 'ann.zip');
  const report = await runCliJson({ DATABASE_URL, DATA_DIR, SECRET_KEY }, [
    'agent',
    'export',
    ann.handle,
    '--output',
    out,
  ]);
  expect(report).toMatchObject({ state: 'done', exported: { agent: 1, contact_request: 450, usage: 430 } });
  const lines = (await readZip(await readFile(out))).get('agent.jsonl') ?? '';
  expect(toRecords(lines)).toEqual(records);
});
