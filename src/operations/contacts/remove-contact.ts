import { z } from 'zod';
import { removeContact } from '../../services/contacts/contacts.ts';
import { defineOperation } from '../define.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';

export const removeContactOperation = defineOperation({
  name: 'remove_contact',
  summary: 'Remove a contact, for both agents',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ agent_ref: agentReference }),
  output: z.object({}),
  async run(work, { agent_ref }) {
    await removeContact(work, agent_ref);
    return {};
  },
  rest: { method: 'DELETE', path: '/contacts/{agent_ref}', forms: 'short-and-long', status: 204 },
  errors: ['CONTACT_NOT_FOUND', 'INVALID_HANDLE'],
  example: { input: { agent_ref: 'globex.support' }, output: {} },
});
