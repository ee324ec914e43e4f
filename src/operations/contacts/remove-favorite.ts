import { z } from 'zod';
import { setFavorite } from '../../services/contacts/contacts.ts';
import { defineOperation } from '../define.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';

export const removeFavoriteOperation = defineOperation({
  name: 'remove_favorite',
  summary: 'Remove a contact from your favorites',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ agent_ref: agentReference }),
  output: z.object({}),
  async run(work, { agent_ref }) {
    await setFavorite(work, agent_ref, false);
    return {};
  },
  rest: { method: 'DELETE', path: '/contacts/{agent_ref}/favorite', forms: 'short-and-long', status: 204 },
  errors: ['CONTACT_NOT_FOUND', 'INVALID_HANDLE'],
  example: { input: { agent_ref: 'globex.support' }, output: {} },
});
