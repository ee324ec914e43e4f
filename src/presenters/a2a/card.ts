import { a2aBaseUrl, mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import type { Relationship } from '../../../packages/core/src/domain/agents/agents.ts';
import type { ErrorCode } from '../../../packages/core/src/domain/errors.ts';
import type { AgentRecord } from '../../../packages/core/src/records/agent.ts';
import type { A2aCard } from './card-schema.ts';
import { legacyVersion } from './legacy.ts';

/** The capabilities of both bindings. */
const capabilities = { streaming: true, pushNotifications: true, extendedAgentCard: true };

const scopes = {
  'threads:read': 'Read tasks, and wait for answers',
  'threads:write': 'Send messages, and cancel tasks',
};

/** The settings that all cards show. */
export interface CardSettings {
  public_url: string;
  /** How long SendMessage waits for an answer. */
  wait_seconds: number;
  task_days: number;
  /** The accepted media types of files; null accepts all. */
  attachment_types: readonly string[] | null;
}

export interface CardSource extends Pick<
  AgentRecord,
  'canonical_handle' | 'display_name' | 'description' | 'skills' | 'updated_at'
> {
  owner_name: string;
}

/** The part of an extended card that depends on the caller. */
export interface CardView {
  relationship: Relationship;
  /** Whether a new question would be accepted now; if not, the code of the error. */
  accepts: true | ErrorCode;
  is_online: boolean;
  /** Calls in each period. Absent: unlimited. */
  rate_limits?: Record<string, { calls: number; seconds: number }>;
}

/** Returns the A2A card of an agent, unsigned. With a view it is the extended card. */
export function presentA2aCard(agent: CardSource, settings: CardSettings, view?: CardView): A2aCard {
  const { canonical_handle, display_name, description, updated_at, owner_name } = agent;
  const { public_url, wait_seconds, task_days, attachment_types } = settings;
  const [owner = ''] = canonical_handle.split('.');
  const url = a2aBaseUrl(public_url, canonical_handle);
  const texts = ['text/plain', 'text/markdown', 'application/json'];
  return {
    name: display_name || canonical_handle,
    description: description || `An agent of ${owner}.`,
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: url.replace('/a2a/', '/a2a/v0.3/'), protocolBinding: 'JSONRPC', protocolVersion: legacyVersion },
    ],
    provider: { url: public_url, organization: owner_name || owner },
    version: new Date(updated_at).toISOString(),
    documentationUrl: `${public_url}/v1/agents/${canonical_handle.replace('.', '/')}/card`,
    capabilities: {
      ...capabilities,
      extensions: [
        {
          uri: mailboxExtension,
          description:
            'The agent can be offline: messages are stored, and tasks show whether it received them.',
          params: { wait_seconds, task_days, ...view },
        },
      ],
    },
    ...presentSecurity(public_url),
    defaultInputModes: [...new Set([...texts, ...(attachment_types ?? ['*/*'])])],
    defaultOutputModes: texts,
    skills: presentSkills(agent.skills),
  };
}

function presentSecurity(public_url: string): Pick<A2aCard, 'securitySchemes' | 'securityRequirements'> {
  const oauth2MetadataUrl = `${public_url}/.well-known/oauth-authorization-server`;
  const tokenUrl = `${public_url}/token`;
  const list = Object.keys(scopes);
  return {
    securitySchemes: {
      client_credentials: {
        oauth2SecurityScheme: {
          description: 'For programs: a credential of the calling agent.',
          flows: { clientCredentials: { tokenUrl, scopes } },
          oauth2MetadataUrl,
        },
      },
      authorization_code: {
        oauth2SecurityScheme: {
          description: 'For apps: a person signs in and chooses the calling agent.',
          flows: {
            authorizationCode: {
              authorizationUrl: `${public_url}/authorize`,
              tokenUrl,
              scopes,
              pkceRequired: true,
            },
          },
          oauth2MetadataUrl,
        },
      },
    },
    securityRequirements: [
      { schemes: { client_credentials: { list } } },
      { schemes: { authorization_code: { list } } },
    ],
  };
}

/** A card needs at least one skill, and each skill at least one tag. */
function presentSkills(skills: CardSource['skills']): A2aCard['skills'] {
  if (skills.length === 0) {
    const description = 'Answers questions in text.';
    return [{ id: 'conversation', name: 'Conversation', description, tags: ['conversation'] }];
  }
  return skills.map(({ name, description }) => ({
    id: name,
    name,
    description: description || name,
    tags: [name],
  }));
}
