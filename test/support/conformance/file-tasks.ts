import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Task, TaskSource } from '../../../src/transports/mcp/tasks/task-source.ts';
import { form } from './multi-round-tools.ts';

const recordSchema = z.object({
  created_at: z.int(),
  /** When it ends, unless it waits for the client. */
  ends_at: z.int(),
  text: z.string(),
  outcome: z.enum(['result', 'tool error', 'protocol error']),
  /** Keys of its questions. */
  asks: z.array(z.string()),
  answered: z.array(z.string()),
  cancelled: z.boolean(),
});

type TaskRecord = z.infer<typeof recordSchema>;

/** The processes of one cluster share this folder: they have the same public address. */
const folder = join(
  tmpdir(),
  `ams-conformance-tasks-${(process.env['PUBLIC_URL'] ?? '').replaceAll(/\W/g, '-')}`,
);
const namePattern = /^task-[\da-f-]{36}$/;
const lifetimeMs = 60_000;

async function load(id: string): Promise<TaskRecord | undefined> {
  if (!namePattern.test(id)) return undefined;
  return recordSchema.parse(JSON.parse(await readFile(join(folder, id), 'utf8')));
}

async function save(id: string, record: TaskRecord): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, id), JSON.stringify(record));
}

/** Stores a task of the suite and returns its id. */
export async function storeTask(
  text: string,
  {
    seconds = 0,
    outcome = 'result',
    asks = [],
  }: { seconds?: number; outcome?: TaskRecord['outcome']; asks?: string[] } = {},
): Promise<string> {
  const id = `task-${randomUUID()}`;
  const now = Date.now();
  await save(id, {
    created_at: now,
    ends_at: now + seconds * 1_000,
    text,
    outcome,
    asks,
    answered: [],
    cancelled: false,
  });
  return id;
}

function describe({
  text,
  outcome,
  asks,
  answered,
  cancelled,
  ends_at,
}: TaskRecord): Pick<Task, 'status' | 'questions' | 'result' | 'error'> {
  if (cancelled) return { status: 'cancelled' };
  const open = asks.filter((key) => !answered.includes(key));
  if (open.length > 0) {
    const questions = open.map(
      (key) => [key, form(key, `What is the answer to ${key}?`, 'confirm', 'boolean')] as const,
    );
    const shown = questions.map(([key, { method, params }]) => [key, { method, params }] as const);
    return { status: 'input_required', questions: Object.fromEntries(shown) };
  }
  if (Date.now() < ends_at) return { status: 'working' };
  if (outcome === 'protocol error') return { status: 'failed', error: { code: -32_603, message: text } };
  const result = { content: [{ type: 'text', text }] };
  return { status: 'completed', result: outcome === 'tool error' ? { ...result, isError: true } : result };
}

/** The tasks of the suite, in files that all processes of one cluster read. */
export const fileTasks: TaskSource = {
  async read(_call, id) {
    const record = await load(id);
    if (!record) return undefined;
    const { created_at } = record;
    return { ...describe(record), created_at, updated_at: created_at, expires_at: created_at + lifetimeMs };
  },
  async update(_call, id, responses) {
    const record = await load(id);
    if (!record) return;
    await save(id, { ...record, answered: [...record.answered, ...Object.keys(responses)] });
  },
  async cancel(_call, id) {
    const record = await load(id);
    if (record && describe(record).result === undefined) await save(id, { ...record, cancelled: true });
  },
};
