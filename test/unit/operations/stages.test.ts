import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createCountOutcomes } from '../../../src/operations/execute/count-outcomes.ts';
import type { Stage } from '../../../src/operations/execute/context.ts';
import { createStages, stagesOf } from '../../../src/operations/execute/execute.ts';
import { sendMessageOperation } from '../../../src/operations/messages/send-message.ts';
import { getThreadOperation } from '../../../src/operations/threads/get-thread.ts';
import { acknowledgeMessageOperation } from '../../../src/operations/inbox/acknowledge-message.ts';
import { waitForReplyOperation } from '../../../src/operations/messages/wait-for-reply.ts';
import { cancelTaskOperation } from '../../../src/operations/tasks/cancel-task.ts';
import { getTaskOperation } from '../../../src/operations/tasks/get-task.ts';
import { updateTaskOperation } from '../../../src/operations/tasks/update-task.ts';
import { claimMessagesOperation } from '../../../src/operations/inbox/claim-messages.ts';
import { requestContactOperation } from '../../../src/operations/contacts/request-contact.ts';
import { uploadAttachmentOperation } from '../../../src/operations/attachments/upload-attachment.ts';

/** Nothing is called: the stages are only listed. */
const parts = { feed: {} } as Parameters<typeof createStages>[1];
const unitOfWork = {} as Parameters<typeof createStages>[0];
const traceSpan: Stage = (_operation, next) => (context) => next(context);
const stages = [createCountOutcomes(() => undefined), traceSpan, ...createStages(unitOfWork, parts)];

const ofEvery = ['countOutcomes', 'traceSpan', 'authorizeScope', 'rateLimit', 'parse'];

test('an operation runs through the stages that it declares, in one order', () => {
  expect(stagesOf(stages, getThreadOperation).names).toEqual([...ofEvery, 'padNotFound', 'transaction']);
  expect(stagesOf(stages, claimMessagesOperation).names).toContain('awaitItems');
  expect(stagesOf(stages, requestContactOperation).names).toContain('approval');
  expect(stagesOf(stages, uploadAttachmentOperation).names).toContain('receiveFile');
});

test('what looks up what a call names comes after padNotFound, so that its time is hidden too', () => {
  const withTask = [getTaskOperation, updateTaskOperation, cancelTaskOperation, waitForReplyOperation];
  for (const operation of [...withTask, acknowledgeMessageOperation, sendMessageOperation]) {
    const { names } = stagesOf(stages, operation);
    const before = names.slice(0, names.indexOf('padNotFound'));
    expect(before.filter((name) => !name.startsWith('await'))).toEqual(ofEvery);
  }
});

test('the document shows the stages of send_message', () => {
  const page = readFileSync(`${import.meta.dirname}/../../../docs/architecture.md`, 'utf8');
  const { names } = stagesOf(stages, sendMessageOperation);
  expect(page).toContain(`The stages of \`send_message\`: ${names.map((name) => `\`${name}\``).join(', ')}.`);
});
