import type { Client, InteractionResults } from 'oidc-provider';
import { SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { Provider } from 'oidc-provider/lib/provider.js';
import type { Context } from 'koa';
import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { scopes } from '../../domain/auth/scopes.ts';
import {
  type AuthorizationRequest,
  type AuthorizationRequests,
  isOwnClient,
} from '../http/authorization-requests.ts';
import type { TokenAudience } from '../../services/auth/tokens.ts';
import { isDocumentId } from './clients/metadata-documents.ts';
import { requestsPath } from './policy.ts';
import { describeRedirect } from './clients/redirect-addresses.ts';
import { sanitizeName } from './clients/registration.ts';
import type { OAuthStorage } from './storage.ts';

export interface RequestsParts {
  /** The current provider. */
  provider(): Provider;
  storage: Pick<OAuthStorage, 'openGrant' | 'endGrant' | 'consumeRecord'>;
  resources: Record<TokenAudience, string>;
}

const requestParamsSchema = z.looseObject({
  client_id: z.string(),
  redirect_uri: z.string(),
  scope: z.string(),
  resource: z.array(z.string()).min(1),
});

/** The authorization requests for the consent page. A request belongs to the browser that has its cookie. */
export function createAuthorizationRequests({
  provider,
  storage,
  resources,
}: RequestsParts): AuthorizationRequests {
  /** The undecided request of this browser, if its id is in the path. */
  async function interactionOf(ctx: Context) {
    try {
      const interaction = await provider().interactionDetails(ctx.req, ctx.res);
      const isOpen = ctx.path === `${requestsPath}/${interaction.uid}` && interaction.result === undefined;
      return isOpen ? interaction : undefined;
    } catch (error) {
      if (error instanceof SessionNotFound) return undefined;
      throw error;
    }
  }

  /** Stores the decision. Of concurrent decisions the first one counts. */
  async function finish(ctx: Context, result: InteractionResults): Promise<void> {
    const interaction = await interactionOf(ctx);
    if (!interaction || !(await storage.consumeRecord('Interaction', interaction.uid)))
      throw requestExpiredError();
    const options = { mergeWithLastSubmission: false };
    const address = await provider()
      .interactionResult(ctx.req, ctx.res, result, options)
      .catch((error: unknown) => {
        // Decided concurrently, in another window or by a button pressed twice.
        throw error instanceof SessionNotFound ? requestExpiredError() : error;
      });
    ctx.status = 303;
    ctx.redirect(address);
  }

  return {
    async find(ctx): Promise<AuthorizationRequest | undefined> {
      const interaction = await interactionOf(ctx);
      if (!interaction) return undefined;
      const params = requestParamsSchema.parse(interaction.params);
      const client = await provider().Client.find(params.client_id);
      return client && toAuthorizationRequest(interaction.uid, params, client, resources);
    },

    async approve(ctx, request, person, agent) {
      const { client_id, name, redirect_host } = request.client;
      const { grant_id } = await storage.openGrant({
        account_id: person.account_id,
        agent_id: agent.id,
        client_id,
        client_name: name,
        redirect_host,
        scopes: request.scopes,
      });
      const login = { accountId: agent.id, remember: false };
      try {
        await finish(ctx, { login, consent: { grantId: grant_id } });
      } catch (error) {
        await storage.endGrant(grant_id);
        throw error;
      }
    },

    async deny(ctx) {
      const error_description = 'The person denied the request.';
      await finish(ctx, { error: 'access_denied', error_description });
    },
  };
}

/** Undefined if the resource is unknown. */
function toAuthorizationRequest(
  uid: string,
  { client_id, redirect_uri, scope, resource: [requested] }: z.infer<typeof requestParamsSchema>,
  client: Client,
  resources: Record<TokenAudience, string>,
): AuthorizationRequest | undefined {
  const audiences = Object.entries(resources) as [TokenAudience, string][];
  const [audience, resource] = audiences.find(([, address]) => address === requested) ?? [];
  if (!audience || resource === undefined) return undefined;
  const { host, target, loopback } = describeRedirect(redirect_uri);
  const requestedScopes = new Set(scope.split(' '));
  return {
    uid,
    client: {
      client_id,
      name: sanitizeName(client.clientName ?? '') || null,
      uri: client.clientUri ?? null,
      redirect_host: host,
      kind: kindOf(client_id),
      loopback,
    },
    redirect_target: target,
    scopes: scopes.filter((name) => requestedScopes.has(name)),
    audience,
    resource,
  };
}

function kindOf(client_id: string): AuthorizationRequest['client']['kind'] {
  if (isOwnClient(client_id)) return 'own';
  return isDocumentId(client_id) ? 'document' : 'registered';
}

function requestExpiredError(): DomainError {
  return new DomainError('NOT_FOUND', 'This request is no longer valid.');
}
