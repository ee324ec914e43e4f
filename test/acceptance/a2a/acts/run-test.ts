import { setTimeout as pause } from 'node:timers/promises';
import { findDifferences } from './assertions.ts';
import type { ActsTest, Step } from './documents.ts';
import { type CallbackReceiver, duties } from './duties.ts';
import { findStreamDifferences } from './streams.ts';
import { interpolate, isConditionMet, readPath } from './values.ts';
import type { Answer, Fields, Wire } from './wire.ts';

/** The agent that is tested. */
export interface Subject {
  wire: Wire;
  /** Its public card. */
  card: unknown;
  /** Values that the documents leave to the runner: `insufficientAuthToken` and `otherUserTaskId`. */
  variables: Record<string, string>;
  /** Receives callbacks. */
  receiver: CallbackReceiver;
}

export type Result =
  | { outcome: 'passed' }
  | { outcome: 'failed'; reason: string }
  | { outcome: 'not applicable'; reason: string };

const passed: Result = { outcome: 'passed' };

/** Runs one test over the binding of the subject. */
export async function runTest(test: ActsTest, subject: Subject): Promise<Result> {
  const reason = findObstacle(test, subject);
  if (reason !== undefined) return { outcome: 'not applicable', reason };
  const path = `/${subject.wire.binding}/${test.id}`;
  const webhookUrl = subject.receiver.url + path;
  const scope = new Map<string, unknown>(
    Object.entries({ ...test.variables, ...subject.variables, webhookUrl }),
  );
  const answers = new Map<string, Answer>();
  try {
    for (const step of test.steps) {
      const answer = await runStep(step, test, subject, scope);
      answers.set(step.id, answer);
    }
    await duties[test.id]?.({
      wire: subject.wire,
      answers,
      otherUserTaskId: subject.variables['otherUserTaskId'] ?? '',
      readCallbacks: () => subject.receiver.postsAt(path),
    });
    return passed;
  } catch (error) {
    return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Why the test is not about this agent or binding. */
function findObstacle(test: ActsTest, { wire, card }: Subject): string | undefined {
  if (test.isForClients) return 'it is about clients';
  if (test.transport && !test.transport.includes(wire.binding))
    return `it is about ${test.transport.join(', ')}`;
  for (const [name, needed] of Object.entries(test.preconditions?.capabilities ?? {})) {
    const path = name === 'authentication' ? 'securityRequirements' : `capabilities.${name}`;
    const [value = false] = readPath(card, path);
    if (Boolean(value) !== needed) return `it needs an agent with ${name}: ${needed}`;
  }
  return undefined;
}

async function runStep(
  step: Step,
  test: ActsTest,
  subject: Subject,
  scope: Map<string, unknown>,
): Promise<Answer> {
  const attempt = () => takeStep(step, test, subject, scope);
  let answer = await attempt();
  for (let count = 1; step.repeat && !isConditionMet(step.repeat.until, answer.body); count += 1) {
    if (count >= step.repeat.max_attempts) throw new Error(`${step.id}: never ${step.repeat.until}`);
    await pause(step.repeat.delay_ms);
    answer = await attempt();
  }
  for (const [name, path] of Object.entries(step.capture ?? {})) {
    const [value] = readPath(answer.body, path);
    if (value === undefined) throw new Error(`${step.id}: nothing at ${path}`);
    scope.set(`${step.id}.${name}`, value);
  }
  scope.set(`${step.id}.response`, answer.body);
  for (const { source, any } of step.assertions ?? []) {
    const values = readPath(interpolate(source, scope), any.path);
    const match = interpolate(any.match, scope);
    if (!values.some((value) => findDifferences(match, value).length === 0))
      throw new Error(`${step.id}: nothing at ${any.path} is ${JSON.stringify(match)}`);
  }
  return answer;
}

async function takeStep(
  step: Step,
  test: ActsTest,
  { wire }: Subject,
  scope: ReadonlyMap<string, unknown>,
): Promise<Answer> {
  const params = interpolate(step.params ?? {}, scope) as Fields;
  // Every other raw request is signed in, because every path but the card needs a token.
  const isAuthenticated = !test.tags.includes('auth');
  const answer = step.raw
    ? await wire.callRaw(interpolate(step.raw, scope) as NonNullable<Step['raw']>, isAuthenticated)
    : await wire.call(step.operation ?? '', params);
  const { expect, expect_error, expect_stream } = step;
  const expectations = interpolate({ expect, expect_error, expect_stream }, scope) as Expectations;
  const differences = findAnswerDifferences(expectations, answer);
  if (differences.length > 0) throw new Error([`${step.id}:`, ...differences].join('\n'));
  return answer;
}

type Expectations = Pick<Step, 'expect' | 'expect_error' | 'expect_stream'>;

function findAnswerDifferences(
  { expect, expect_error, expect_stream }: Expectations,
  answer: Answer,
): string[] {
  const { error, events } = answer;
  if (expect_error) {
    if (!error) return [`no error, but ${JSON.stringify(answer.body ?? events)}`];
    const { error_type: name, ...others } = expect_error;
    return findDifferences({ ...others, ...(name !== undefined && { name }) }, error, 'the error');
  }
  if (error) return [`an error: ${JSON.stringify(error)}`];
  return [
    ...(expect?.status === undefined ? [] : findDifferences(expect.status, answer.status, 'the status')),
    ...(expect?.body === undefined ? [] : findDifferences(expect.body, answer.body, 'the body')),
    ...(expect_stream ? findStreamDifferences(expect_stream, events ?? []) : []),
  ];
}
