import { z } from 'zod';
import { describeContactRemoval, removeContact } from '../../services/contacts/contacts.ts';
import { defineOperation, toolHints } from '../define.ts';
import { agentHandle } from '../fields.ts';

/** remove_contact as a tool: its argument is named otherwise than in the path of REST. */
export const dropContactOperation = defineOperation({
  name: 'drop_contact',
  summary: 'Remove a contact, on both sides, when a person agrees',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ handle: agentHandle.describe('The contact to remove, by handle or id.') }),
  output: z.object({}),
  async run(work, { handle }) {
    await removeContact(work, handle);
    return {};
  },
  approval: {
    action: 'remove_contact',
    subject: (work, { handle }) => describeContactRemoval(work, handle),
  },
  tool: {
    name: 'remove_contact',
    description:
      'Removes a contact, on both sides; both are told. Your user is asked first, unless the other agent has the same owner or organization. Answered APPROVAL_REQUIRED, show your user approval_url, and call again with the same arguments when the decision is made there.',
    annotations: { ...toolHints.write, destructiveHint: true, idempotentHint: true },
  },
  errors: ['CONTACT_NOT_FOUND', 'INVALID_HANDLE', 'APPROVAL_REQUIRED', 'APPROVAL_DENIED'],
  example: { input: { handle: 'globex.support' }, output: {} },
});
