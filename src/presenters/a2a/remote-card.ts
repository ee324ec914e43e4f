import { z } from 'zod';
import { mailboxExtension } from '../../../packages/core/src/domain/a2a.ts';
import type { RemoteCard } from '../../../packages/core/src/domain/remote.ts';
import { isNestedAtMost } from '../../../packages/core/src/inputs/fields.ts';
import { toVisibleLine } from '../../../packages/core/src/domain/visible-text.ts';

/** Cards of other systems (A2A 1.0.1, section 4.4.1, and A2A 0.3, section 5.5). Unknown fields are ignored, and fields that are not needed may be absent. */

const maxNesting = 50;
/** Without unknown fields. */
const maxStoredBytes = 65_536;
/** PostgreSQL cannot store NUL and lone surrogates as JSON. */
const notStorable = /\\u(?:0000|d[89a-f])/i;

const text = z.string().max(10_000);
const address = z.string().max(2_048);

const agentInterface = z.object({
  url: address,
  protocolBinding: text,
  protocolVersion: text,
  tenant: text.optional(),
});

const extension = z.object({
  uri: address,
  required: z.boolean().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
});

/** Of a flow of OAuth 2.0, only what a program without a person needs. */
const oauthFlows = z.object({ clientCredentials: z.object({ tokenUrl: address }).optional() });

const skill = z.object({ id: text.optional(), name: text, description: text.default('') });

const cardSchema = z.object({
  name: z.string().max(1_000),
  description: text.default(''),
  version: text.default(''),
  provider: z
    .object({ organization: text, url: address.optional() })
    .nullish()
    .transform((provider) => provider ?? undefined),
  supportedInterfaces: z.array(agentInterface).max(50).optional(),
  // Of A2A 0.3.
  protocolVersion: text.optional(),
  url: address.optional(),
  preferredTransport: text.optional(),
  additionalInterfaces: z
    .array(z.object({ url: address, transport: text }))
    .max(50)
    .optional(),
  capabilities: z
    .object({
      streaming: z.boolean().optional(),
      pushNotifications: z.boolean().optional(),
      extensions: z.array(extension).max(50).optional(),
    })
    .default({}),
  securitySchemes: z
    .record(
      z.string(),
      z.object({
        oauth2SecurityScheme: z.object({ flows: oauthFlows.optional() }).optional(),
        flows: oauthFlows.optional(),
      }),
    )
    .default({}),
  skills: z.array(skill).max(1_000).default([]),
  signatures: z
    .array(z.object({ protected: address, signature: address }))
    .max(20)
    .default([]),
});

export type CardSignature = z.infer<typeof cardSchema>['signatures'][number];

/** Why a card cannot be used, for people. */
export class CardProblem extends Error {
  override name = 'CardProblem';
}

/** Reads a card. The text of the other system is in no error. @throws {CardProblem} */
export function readRemoteCard(json: unknown): { card: RemoteCard; signatures: CardSignature[] } {
  const parsed = isNestedAtMost(json, maxNesting) ? cardSchema.safeParse(json) : undefined;
  if (!parsed?.success) {
    const field = parsed?.error.issues[0]?.path[0];
    throw new CardProblem(
      `the address has no valid agent card${field === undefined ? '' : `: ${String(field)}`}`,
    );
  }
  const { signatures, ...card } = parsed.data;
  const stored = JSON.stringify(card);
  if (Buffer.byteLength(stored) > maxStoredBytes) throw new CardProblem('the agent card is too large');
  if (notStorable.test(stored)) throw new CardProblem('the agent card has characters that cannot be stored');
  const needed = card.capabilities.extensions?.find(
    ({ uri, required }) => required && uri !== mailboxExtension,
  );
  if (needed) throw new CardProblem('the agent requires an extension that this service does not have');
  return { card, signatures };
}

export interface RemoteInterface {
  url: string;
  binding: 'JSONRPC' | 'HTTP+JSON';
  version: '1.0' | '0.3';
}

/** The ways to talk to an agent, best first. */
const supported = [
  { binding: 'JSONRPC', version: '1.0' },
  { binding: 'HTTP+JSON', version: '1.0' },
  { binding: 'JSONRPC', version: '0.3' },
] as const;

/**
 * Returns the best interface of a card that this service can use and whose address is allowed.
 * @throws {CardProblem} there is none
 */
export function chooseInterface(card: RemoteCard, isAllowed: (url: string) => boolean): RemoteInterface {
  const interfaces = card.supportedInterfaces ?? listLegacyInterfaces(card);
  for (const { binding, version } of supported) {
    const found = interfaces.find(
      ({ url, protocolBinding, protocolVersion, tenant = '' }) =>
        protocolBinding === binding &&
        (protocolVersion === version || protocolVersion.startsWith(`${version}.`)) &&
        tenant === '' &&
        isAllowed(url),
    );
    if (found) return { url: found.url, binding, version };
  }
  const advice = 'this service speaks A2A 1.0 over JSON-RPC and HTTP+JSON, and 0.3 over JSON-RPC, over https';
  throw new CardProblem(`the agent card has no interface that can be used: ${advice}`);
}

/** The fields of A2A 0.3 in the form of 1.0. Without a preferred transport it is JSON-RPC. */
function listLegacyInterfaces(card: RemoteCard): z.infer<typeof agentInterface>[] {
  const { url, preferredTransport = 'JSONRPC', protocolVersion = '0.3', additionalInterfaces = [] } = card;
  const others = additionalInterfaces.map(({ url: other, transport }) => ({
    url: other,
    protocolBinding: transport,
    protocolVersion,
  }));
  return url === undefined
    ? others
    : [{ url, protocolBinding: preferredTransport, protocolVersion }, ...others];
}

/** Where a card says that a program gets its tokens; undefined: nowhere. */
export function findTokenUrl({ securitySchemes }: RemoteCard): string | undefined {
  const flows = Object.values(securitySchemes).map(
    ({ oauth2SecurityScheme, flows: legacy }) => oauth2SecurityScheme?.flows ?? legacy,
  );
  return flows.find((flow) => flow?.clientCredentials !== undefined)?.clientCredentials?.tokenUrl;
}

const maxSkills = 20;
const maxSkillName = 64;

/** Returns what the record of the agent shows of its card. Texts of strangers become one readable line. */
export function toProfile(card: RemoteCard) {
  const skills = new Map<string, string>();
  for (const { id, name, description } of card.skills) {
    const slug = [id ?? '', name].map(toSlug).find((one) => one !== '');
    if (slug !== undefined && !skills.has(slug)) skills.set(slug, toVisibleLine(description, 500));
  }
  return {
    description: toVisibleLine(card.description, 1_000),
    skills: [...skills].slice(0, maxSkills).map(([name, description]) => ({ name, description })),
  };
}

function toSlug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSkillName)
    .replaceAll(/^-+|-+$/g, '');
}
