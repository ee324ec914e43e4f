import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import { requestRest, type RestResponse } from '../../clients/rest.ts';
import { createMask } from './mask.ts';
import type { ContractAgent, ContractAgentOptions, ContractApproval, ContractService } from './services.ts';

export interface CallOptions {
  body?: unknown;
  key?: string | null;
  token?: string;
  headers?: Record<string, string>;
  raw?: string | Uint8Array<ArrayBuffer>;
}

/** Agents of one run of a scenario, and a transcript of everything that the service answered. */
export interface World {
  url: string;
  transcript: unknown[];
  agent(name: string, options?: ContractAgentOptions): Promise<ContractAgent>;
  handle(name: string): string;
  token(name: string, scopes: readonly Scope[]): Promise<string>;
  /** Requests an approval of the target, as a tool call of the agent does. Returns its id. */
  requestApproval(name: string, target: string, about: Omit<ContractApproval, 'target'>): Promise<string>;
  /** A call of an agent. The answer is added to the transcript. */
  request(name: string | null, method: string, path: string, options?: CallOptions): Promise<RestResponse>;
  /** Adds the events of an agent since the last call, without those whose time depends on readers and scans. */
  events(name: string, expected: number): Promise<void>;
  note(value: unknown): void;
}

/** Receipts and scans come at a time that no test knows. */
const unordered = new Set(['message.delivered', 'attachment.scanned']);

/** Headers that belong to the contract. */
const contractHeaders = ['idempotency-replayed', 'allow', 'retry-after'];

export function createWorld(service: ContractService): World {
  const prefix = `o${randomUUID().slice(0, 8)}-`;
  const agents = new Map<string, ContractAgent>();
  const cursors = new Map<string, string>();
  const mask = createMask(prefix);
  const transcript: unknown[] = [];

  function find(name: string): ContractAgent {
    const agent = agents.get(name);
    if (!agent) throw new Error(`the scenario has no agent ${name}`);
    return agent;
  }

  return {
    url: service.url,
    transcript,
    async agent(name, options = {}) {
      const owner = options.owner ?? name;
      const agent = await service.agent(`${prefix}${owner}.${name}`, options);
      agents.set(name, agent);
      return agent;
    },
    handle: (name) => find(name).handle,
    token: (name, scopes) => service.token(find(name).handle, scopes),
    requestApproval: (name, target, about) =>
      service.requestApproval(find(name).handle, { ...about, target: find(target).handle }),
    async request(name, method, path, { token, ...options } = {}) {
      const used = token ?? (name === null ? undefined : find(name).token);
      const answer = await requestRest(method, `${service.url}${path}`, { token: used, ...options });
      const headers = contractHeaders.flatMap((header) => answer.headers.get(header) ?? []);
      const location = answer.headers.get('location')?.replace(/^https?:\/\/[^/]+/, '');
      const place = location?.startsWith('/v1/') ? location : location?.slice(0, 6);
      const body: unknown = answer.body ?? '';
      transcript.push(mask([`${name} ${method} ${path}`, answer.status, body, headers, place]));
      return answer;
    },
    async events(name, expected) {
      const found: unknown[] = [];
      const { token } = find(name);
      await expect
        .poll(async () => {
          const cursor = encodeURIComponent(cursors.get(name) ?? 'earliest');
          const url = `${service.url}/v1/events?limit=100&cursor=${cursor}`;
          const { body } = await requestRest('GET', url, { token });
          cursors.set(name, String(body.cursor));
          const events = body.events as { type: string }[];
          found.push(...events.filter(({ type }) => !unordered.has(type)));
          return found.length;
        })
        .toBe(expected);
      transcript.push(mask([`events of ${name}`, found]));
    },
    note: (value) => void transcript.push(mask(value)),
  };
}
