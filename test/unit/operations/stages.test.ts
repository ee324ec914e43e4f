import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createCountOutcomes } from '../../../src/operations/execute/count-outcomes.ts';
import type { Stage } from '../../../src/operations/execute/context.ts';
import { createStages, stagesOf } from '../../../src/operations/execute/execute.ts';
import { sendMessageOperation } from '../../../src/operations/messages/send-message.ts';
import { getThreadOperation } from '../../../src/operations/threads/get-thread.ts';
import { claimMessagesOperation } from '../../../src/operations/inbox/claim-messages.ts';
import { requestContactOperation } from '../../../src/operations/contacts/request-contact.ts';
import { uploadAttachmentOperation } from '../../../src/operations/attachments/upload-attachment.ts';

/** Nothing is called: the stages are only listed. */
const parts = { feed: {} } as Parameters<typeof createStages>[1];
const unitOfWork = {} as Parameters<typeof createStages>[0];
const traceSpan: Stage = (_operation, next) => (context) => next(context);
const stages = [createCountOutcomes(() => undefined), traceSpan, ...createStages(unitOfWork, parts)];

test('an operation runs through the stages that it declares, in one order', () => {
  const ofEvery = ['countOutcomes', 'traceSpan', 'authorizeScope', 'rateLimit', 'parse'];
  expect(stagesOf(stages, getThreadOperation).names).toEqual([...ofEvery, 'padNotFound', 'transaction']);
  expect(stagesOf(stages, claimMessagesOperation).names).toContain('awaitItems');
  expect(stagesOf(stages, requestContactOperation).names).toContain('approval');
  expect(stagesOf(stages, uploadAttachmentOperation).names).toContain('receiveFile');
});

test('the document shows the stages of send_message', () => {
  const page = readFileSync(`${import.meta.dirname}/../../../docs/architecture.md`, 'utf8');
  const { names } = stagesOf(stages, sendMessageOperation);
  expect(page).toContain(`The stages of \`send_message\`: ${names.map((name) => `\`${name}\``).join(', ')}.`);
});
