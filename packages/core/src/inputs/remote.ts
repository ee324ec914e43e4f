import { z } from 'zod';
import { enteredCredentialKinds } from '../domain/remote.ts';
import { agentReference, atLeastOneField, displayName, pageFields } from './fields.ts';

const secret = z.string().min(1).max(4_096);
const webAddress = z.string().min(1).max(2_048, 'must have at most 2,048 characters');

const credential = z
  .strictObject({
    kind: z
      .enum(enteredCredentialKinds)
      .describe('none, bearer (with token), or client_credentials (with client_id and client_secret).'),
    token: secret.optional().describe('The token, for the kind bearer.'),
    client_id: secret.optional().describe('The client ID, for the kind client_credentials.'),
    client_secret: secret.optional().describe('The client secret, for the kind client_credentials.'),
    token_url: webAddress
      .optional()
      .describe('Where client credentials get tokens. Default: the address that the card names.'),
  })
  .describe('How this service signs in there. It is stored encrypted and never returned.');

export const addRemoteAgentInput = z
  .strictObject({
    card_url: webAddress
      .optional()
      .describe(
        'The https address of its A2A card. An address without a path means /.well-known/agent-card.json.',
      ),
    invitation: webAddress
      .optional()
      .describe('In place of card_url: the address of an invitation that another installation has issued.'),
    agent: agentReference
      .optional()
      .describe(
        'With invitation: the agent that accepts it, which you manage. Only this one talks with the added agent.',
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
  })
  .refine(({ card_url, invitation }) => (card_url === undefined) !== (invitation === undefined), {
    error: 'is required, unless you set invitation; set one of them',
    path: ['card_url'],
  })
  .refine(({ invitation, agent }) => (invitation === undefined) === (agent === undefined), {
    error: 'is required with invitation, and belongs to it only',
    path: ['agent'],
  })
  .refine(({ invitation, credential: { kind } }) => invitation === undefined || kind === 'none', {
    error: 'comes from the invitation; leave it out',
    path: ['credential'],
  })
  .refine(({ invitation, organization }) => invitation === undefined || organization === undefined, {
    error: 'is that of the agent; leave it out',
    path: ['organization'],
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
