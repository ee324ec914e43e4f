import { z } from 'zod';
import { setFavorite } from '../../services/contacts/contacts.ts';
import { defineAction } from '../define.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';

export const removeFavoriteOperation = defineAction({
  name: 'remove_favorite',
  summary: 'Remove a contact from your favorites',
  scope: 'contacts:write',
  kind: 'write',
  input: z.strictObject({ agent_ref: agentReference }),
  run: (work, { agent_ref }) => setFavorite(work, agent_ref, false),
  rest: { method: 'DELETE', path: '/contacts/{agent_ref}/favorite', forms: 'short-and-long', status: 204 },
  errors: ['CONTACT_NOT_FOUND', 'INVALID_HANDLE'],
  example: { agent_ref: 'globex.support' },
});
