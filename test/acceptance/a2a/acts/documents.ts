import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/**
 * The documents of ACTS, the declarative conformance tests of the A2A project. Every key that the runner does not know is refused, so that it
 * leaves out no expectation. Keys that the grammar of ACTS does not have but its documents do are in `normalize`.
 */

const fields = z.record(z.string(), z.unknown());
const collection = z.strictObject({ path: z.string(), match: z.unknown() });
const assertion = z.strictObject({ source: z.string(), any: collection });

const event = z.looseObject({
  description: z.string().optional(),
  match: z.enum(['exact_position', 'any_position']).optional(),
  index: z.int().optional(),
});

const step = z.strictObject({
  id: z.string(),
  description: z.string().optional(),
  operation: z.string().optional(),
  params: fields.optional(),
  raw: z
    .strictObject({
      method: z.string(),
      path: z.string(),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.unknown().optional(),
      body_raw: z.string().optional(),
    })
    .optional(),
  expect: z.strictObject({ status: z.unknown().optional(), body: z.unknown().optional() }).optional(),
  expect_error: z
    .strictObject({
      error_type: z.unknown().optional(),
      message: z.unknown().optional(),
      data: z.unknown().optional(),
    })
    .optional(),
  expect_stream: z
    .strictObject({
      min_count: z.int().optional(),
      ordering: z.literal('monotonic_state').optional(),
      events: z.array(event).optional(),
      each_event: z.unknown().optional(),
      final_event: z.unknown().optional(),
    })
    .optional(),
  capture: z.record(z.string(), z.string()).optional(),
  assertions: z.array(assertion).optional(),
  repeat: z
    .strictObject({ until: z.string(), max_attempts: z.int().default(10), delay_ms: z.int().default(1_000) })
    .optional(),
});

const transport = z.enum(['jsonrpc', 'rest', 'grpc']);

const test = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  spec_ref: z.string().optional(),
  level: z.enum(['must', 'should', 'may']),
  tags: z.array(z.string()).default([]),
  transport: z.array(transport).optional(),
  preconditions: z.strictObject({ capabilities: z.record(z.string(), z.boolean()) }).optional(),
  requires_behaviors: z.array(z.string()).optional(),
  steps: z.array(step),
});

const document = z.looseObject({
  acts_version: z.string().regex(/^1\./),
  variables: z.record(z.string(), z.string()).default({}),
  include: z.array(z.string()).optional(),
  suites: z.array(z.looseObject({ id: z.string(), tests: z.array(z.unknown()) })).default([]),
});

export type Step = z.infer<typeof step>;
export interface ActsTest extends z.infer<typeof test> {
  /** Of its document. */
  variables: Record<string, string>;
  /** Whether it is about what a client reads. */
  isForClients: boolean;
}

/** The folder of the documents, and what to report if it is absent. */
export function findActsFolder(): { folder: string; missing: string | undefined } {
  const folder = resolve(
    process.env['ACTS_FOLDER'] ?? join(import.meta.dirname, '../../../../../shared/acts'),
  );
  const isThere = existsSync(join(folder, 'suite.acts.yaml'));
  return { folder, missing: isThere ? undefined : `no ACTS documents in ${folder}; set ACTS_FOLDER` };
}

/** All tests of the suite in this folder, in their order. */
export async function readTests(folder: string): Promise<ActsTest[]> {
  const read = async (name: string) => document.parse(parse(await readFile(join(folder, name), 'utf8')));
  const { include = [], variables } = await read('suite.acts.yaml');
  const documents = await Promise.all(include.map(read));
  return documents.flatMap((one) =>
    one.suites.flatMap(({ tests }) =>
      tests.map((value) => parseTest(value, { ...variables, ...one.variables })),
    ),
  );
}

const clientStep = z.looseObject({ client_response: z.unknown() });

function parseTest(value: unknown, variables: Record<string, string>): ActsTest {
  const outline = z.looseObject({ steps: z.array(fields) }).parse(value);
  const isForClients = outline.steps.some(
    (one) => clientStep.safeParse(one).success && 'client_response' in one,
  );
  const steps = isForClients ? [] : outline.steps.map(normalize);
  return { ...test.parse({ ...outline, steps }), variables, isForClients };
}

/** What the documents write in another way than the grammar of ACTS has it. None of it changes what a test expects. */
function normalize(one: Record<string, unknown>): Record<string, unknown> {
  const { expect, expect_error, ...others } = one;
  return { ...others, ...normalizeExpect(expect), ...normalizeError(expect_error) };
}

/** Some documents have fields of the answer beside `body`, or an expected error in `expect`. */
function normalizeExpect(value: unknown): object {
  if (value === undefined) return {};
  const { status, body, error, ...others } = fields.parse(value);
  if (error !== undefined) return { expect_error: {} };
  const hasOthers = Object.keys(others).length > 0;
  return { expect: { status, body: hasOthers ? others : body } };
}

/** Some documents have the name of an error in `code`. */
function normalizeError(value: unknown): object {
  if (value === undefined) return {};
  const { code, ...others } = fields.parse(value);
  return { expect_error: { ...(code !== undefined && { error_type: code }), ...others } };
}
