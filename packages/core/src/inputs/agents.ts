import { z } from 'zod';
import { defaultVisibility, localScopes } from '../domain/agents/agents.ts';
import {
  atLeastOneField,
  agentReference,
  cardBody,
  description,
  displayName,
  handlePart,
  inboundPolicy,
  skills,
  visibility,
} from './fields.ts';

export const getAgentProfileInput = z.strictObject({
  owner: handlePart.describe(
    'Username of the person or slug of the organization that owns the agent. Case does not matter; a leading @ is accepted.',
  ),
  agent_name: handlePart.describe('The part of the handle after the dot.'),
});

export const registerAgentInput = z.strictObject({
  name: z
    .string()
    .min(1, 'must have at least 1 character')
    .max(32, 'must have at most 32 characters')
    .describe('The part of the handle after the dot. It cannot be changed or reused.'),
  display_name: displayName,
  description: description.default(''),
  inbound_policy: inboundPolicy.default('contacts_only'),
  visibility: visibility.default(defaultVisibility),
  card_body: cardBody.default(''),
  skills: skills.default([]),
  scope: z
    .enum(localScopes)
    .optional()
    .describe(
      'For an agent of an organization: member (belongs to your person) or shared (managed by its admins).',
    ),
  organization: z
    .string()
    .min(1)
    .max(80)
    .optional()
    .describe('Slug of the organization that will own the agent.'),
});

export const updateAgentInput = z
  .strictObject({
    agent_ref: agentReference,
    display_name: displayName.optional(),
    description: description.optional(),
    card_body: cardBody.optional(),
    skills: skills.optional(),
    inbound_policy: inboundPolicy.optional(),
    visibility: visibility.optional(),
    paused: z.boolean().optional().describe('A paused agent can neither send nor receive messages.'),
    can_initiate_threads: z.boolean().optional().describe('Whether the agent can start threads.'),
  })
  .refine(...atLeastOneField);

export const ownerOnlyFields = ['inbound_policy', 'visibility', 'paused', 'can_initiate_threads'] as const;

const ownerOnlyField = z
  .unknown()
  .optional()
  .describe('Only your owner can change this field. Returns FORBIDDEN.');

export const updateMeInput = z
  .strictObject({
    display_name: displayName.optional(),
    description: description.optional(),
    card_body: cardBody.optional(),
    skills: skills.optional(),
    inbound_policy: ownerOnlyField,
    visibility: ownerOnlyField,
    paused: ownerOnlyField,
    can_initiate_threads: ownerOnlyField,
  })
  .refine(...atLeastOneField);
