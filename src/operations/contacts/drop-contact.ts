import { z } from 'zod';
import { describeContactRemoval, removeContact } from '../../services/contacts/contacts.ts';
import { defineAction, toolHints } from '../define.ts';
import { agentHandle } from '../../../packages/core/src/inputs/fields.ts';

/** remove_contact as a tool, whose argument has another name than the path parameter of REST. */
export const dropContactOperation = defineAction({
  name: 'drop_contact',
  summary: 'Remove a contact after approval by a person',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ handle: agentHandle.describe('The contact to remove, by handle or id.') }),
  run: (work, { handle }) => removeContact(work, handle),
  approval: {
    action: 'remove_contact',
    subject: (work, { handle }) => describeContactRemoval(work, handle),
    named: ({ handle }) => ({ target: handle, message: null }),
  },
  tool: {
    name: 'remove_contact',
    description:
      'Removes a contact for both agents and notifies both. Use it when your user no longer wants it; to refuse messages too, use block_agent. Your user must approve it, unless both have one owner or organization: on APPROVAL_REQUIRED, show them approval_url. The event approval.resolved reports the decision.',
    annotations: { ...toolHints.reachesOthers, destructiveHint: true, idempotentHint: true },
  },
  errors: ['CONTACT_NOT_FOUND', 'INVALID_HANDLE', 'APPROVAL_REQUIRED', 'APPROVAL_DENIED'],
  example: { handle: 'globex.support' },
});
