import { z } from 'zod';

/** The agent card of A2A 1.0.1 (AgentCard in specification/a2a.proto), with the fields that cards of this service have. */

const text = z.string().min(1);
const address = z.url();
const mediaTypes = z.array(text).min(1);

const agentInterface = z.strictObject({
  url: address,
  protocolBinding: z.enum(['JSONRPC', 'HTTP+JSON']),
  protocolVersion: text,
});

const agentExtension = z.strictObject({
  uri: address,
  description: text,
  params: z.record(z.string(), z.json()),
});

const agentCapabilities = z.strictObject({
  streaming: z.boolean(),
  pushNotifications: z.boolean(),
  extendedAgentCard: z.boolean(),
  extensions: z.array(agentExtension),
});

const scopeTexts = z.record(z.string(), text);

const oauth2SecurityScheme = z.strictObject({
  description: text,
  flows: z.union([
    z.strictObject({ clientCredentials: z.strictObject({ tokenUrl: address, scopes: scopeTexts }) }),
    z.strictObject({
      authorizationCode: z.strictObject({
        authorizationUrl: address,
        tokenUrl: address,
        scopes: scopeTexts,
        pkceRequired: z.literal(true),
      }),
    }),
  ]),
  oauth2MetadataUrl: address,
});

const securityRequirement = z.strictObject({
  schemes: z.record(z.string(), z.strictObject({ list: z.array(text) })),
});

const agentSkill = z.strictObject({
  id: text,
  name: text,
  description: text,
  tags: z.array(text).min(1),
});

/** A JWS in JSON form (RFC 7515), whose payload is the canonical card. */
const agentCardSignature = z.strictObject({ protected: text, signature: text });

/** No field has an empty value: libraries disagree whether a signature covers one. */
export const a2aCardSchema = z.strictObject({
  name: text,
  description: text,
  supportedInterfaces: z.array(agentInterface).min(1),
  provider: z.strictObject({ url: address, organization: text }),
  version: text,
  documentationUrl: address,
  capabilities: agentCapabilities,
  securitySchemes: z.record(z.string(), z.strictObject({ oauth2SecurityScheme })),
  securityRequirements: z.array(securityRequirement),
  defaultInputModes: mediaTypes,
  defaultOutputModes: mediaTypes,
  skills: z.array(agentSkill).min(1),
  signatures: z.array(agentCardSignature).optional(),
});

export type A2aCard = z.infer<typeof a2aCardSchema>;
