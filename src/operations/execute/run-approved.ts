import type { ApprovedCall, Work } from '../../work/unit-of-work.ts';
import { sendA2aMessageOperation } from '../a2a/send-message.ts';
import { catalogue } from '../catalogue.ts';
import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import { createAnswer } from './respond.ts';
import { replaceTexts } from './reviewed-texts.ts';

/**
 * Runs the call that an approval allows, in the transaction of the decision.
 * @param work of the agent that asked.
 * @returns the answer of the call, as JSON text
 * @throws {DomainError} what the operation throws
 */
export async function runApproved(
  work: Work,
  { action, target, message, input: held, texts }: ApprovedCall,
): Promise<string> {
  const operation = [...catalogue, sendA2aMessageOperation].find(
    ({ name, approval }) => (held ? name : approval?.action) === action,
  );
  if (!operation) throw new Error(`no operation needs the approval ${action}`);
  const input = held
    ? texts
      ? parseInput(operation.input, replaceTexts(operation, held, texts))
      : held
    : operation.input.parse({ handle: target, ...(message !== '' && { message }) });
  return createAnswer(operation, work, input, await operation.run(work, input, null, null)).body;
}
