import { z } from 'zod';
import { credentialKinds } from '../domain/remote.ts';
import { agentReference, atLeastOneField, displayName, pageFields } from './fields.ts';

const secret = z.string().min(1).max(4_096);
const webAddress = z.string().min(1).max(2_048, 'must have at most 2,048 characters');

const credential = z
  .strictObject({
    kind: z
      .enum(credentialKinds)
      .describe('none, bearer (with token), or client_credentials (with client_id and client_secret).'),
    token: secret.optional().describe('The token, for the kind bearer.'),
    client_id: secret.optional().describe('The client ID, for the kind client_credentials.'),
    client_secret: secret.optional().describe('The client secret, for the kind client_credentials.'),
    token_url: webAddress
      .optional()
      .describe('Where client credentials get tokens. Default: the address that the card names.'),
  })
  .describe('How this service signs in there. It is stored encrypted and never returned.');

export const addRemoteAgentInput = z.strictObject({
  card_url: webAddress.describe(
    'The https address of its A2A card. An address without a path means /.well-known/agent-card.json.',
  ),
  handle: z
    .string()
    .min(1, 'must have at least 1 character')
    .max(32, 'must have at most 32 characters')
    .optional()
    .describe('The part of its handle here after the dot. Default: from the host of the card.'),
  organization: z
    .string()
    .min(1)
    .max(80)
    .optional()
    .describe('Slug of the organization that will own the record. You must be one of its admins.'),
  credential: credential.default({ kind: 'none' }),
});

export const listRemoteAgentsInput = z.strictObject(pageFields(100, 50));

export const remoteAgentInput = z.strictObject({ agent_ref: agentReference });

export const updateRemoteAgentInput = z
  .strictObject({
    agent_ref: agentReference,
    display_name: displayName.optional(),
    credential: credential.optional(),
  })
  .refine(...atLeastOneField);
