import { type AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import type { Binding } from '../../clients/a2a.ts';

/** A key that signs cards. */
export interface CardKey {
  kid: string;
  privateKey: KeyObject;
  /** Its public part, as a server publishes it. */
  jwk: object;
}

export function createCardKey(): CardKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomUUID();
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' } };
}

export interface CardOptions {
  binding: Binding;
  hasPush: boolean;
}

/** A card of A2A 1.0, as JSON. */
export function buildCard(url: string, { binding, hasPush }: CardOptions): Record<string, unknown> {
  return {
    name: 'Remote Agent',
    description: 'An agent of another system.',
    version: '1.0.0',
    provider: { organization: 'Example', url: 'https://example.com' },
    supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: binding, protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: hasPush },
    securitySchemes: {
      oauth: {
        oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: `${url}/token`, scopes: {} } } },
      },
    },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'answer', name: 'Answer', description: 'Answers questions.', tags: ['answer'] }],
  };
}

/** Adds a signature to a card. The SDK signs the JSON form: its own form of a card lacks the security schemes (a2a-js, issue 663). */
export async function signCard(card: object, { kid, privateKey }: CardKey, jku: string): Promise<object> {
  const sign = generateAgentCardSignature(privateKey, { alg: 'ES256', kid, typ: 'JOSE', jku });
  return sign(card as AgentCard);
}
