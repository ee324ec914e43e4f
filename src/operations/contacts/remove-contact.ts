import { z } from 'zod';
import { removeContact } from '../../services/contacts/contacts.ts';
import { defineAction } from '../define.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';

export const removeContactOperation = defineAction({
  name: 'remove_contact',
  summary: 'Remove a contact, for both agents',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ agent_ref: agentReference }),
  run: (work, { agent_ref }) => removeContact(work, agent_ref),
  rest: { method: 'DELETE', path: '/contacts/{agent_ref}', forms: 'short-and-long', status: 204 },
  errors: ['CONTACT_NOT_FOUND', 'INVALID_HANDLE'],
  example: { agent_ref: 'globex.support' },
});
