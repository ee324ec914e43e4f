import type { Client, InteractionResults } from 'oidc-provider';
import { SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { Provider } from 'oidc-provider/lib/provider.js';
import type { Context } from 'koa';
import { z } from 'zod';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { knownScopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import {
  type AuthorizationRequest,
  type AuthorizationRequests,
  commandLineClient,
  isOwnClient,
} from '../http/authorization-requests.ts';
import type { TokenResource } from '../../services/auth/tokens.ts';
import { isDocumentId } from './clients/metadata-documents.ts';
import { requestsPath } from './policy.ts';
import { describeRedirect } from './clients/redirect-addresses.ts';
import { sanitizeName } from './clients/registration.ts';
import type { OAuthStorage } from '../../services/auth/oauth-storage.ts';

export interface RequestsParts {
  /** The current provider. */
  provider(): Provider;
  storage: Pick<OAuthStorage, 'openGrant' | 'endGrant' | 'addDecision' | 'findRecord' | 'removeRecord'>;
  resources: Record<TokenResource, string>;
}

const requestParamsSchema = z.looseObject({
  client_id: z.string(),
  redirect_uri: z.string(),
  scope: z.string(),
  resource: z.array(z.string()).min(1),
});

const decisionSchema = z.object({ account_id: z.string(), app: z.string(), handle: z.string().nullable() });

interface DecisionRecord {
  account_id: string;
  /** Null if the person denied the request. */
  grantId: string | null;
  /** The app as the consent page names it, and the agent as which it may act. */
  app: string;
  handle: string | null;
}

/** The authorization requests for the consent page. A request belongs to the browser that has its cookie. */
export function createAuthorizationRequests({
  provider,
  storage,
  resources,
}: RequestsParts): AuthorizationRequests {
  /** The request of this browser, if its id is in the path. */
  async function interactionOf(ctx: Context) {
    try {
      const interaction = await provider().interactionDetails(ctx.req, ctx.res);
      return uidOf(ctx) === interaction.uid ? interaction : undefined;
    } catch (error) {
      if (error instanceof SessionNotFound) return undefined;
      throw error;
    }
  }

  /** Stores the decision. Of concurrent decisions the first one counts. */
  async function finish(ctx: Context, result: InteractionResults, decision: DecisionRecord): Promise<void> {
    const uid = uidOf(ctx);
    if (!(await storage.addDecision(uid, decision))) throw requestExpiredError();
    const options = { mergeWithLastSubmission: false };
    const address = await provider()
      .interactionResult(ctx.req, ctx.res, result, options)
      .catch(async (error: unknown) => {
        await storage.removeRecord('Decision', uid);
        throw error instanceof SessionNotFound ? requestExpiredError() : error;
      });
    ctx.status = 303;
    ctx.redirect(address);
  }

  return {
    async find(ctx): Promise<AuthorizationRequest | undefined> {
      const interaction = await interactionOf(ctx);
      if (!interaction || interaction.result !== undefined) return undefined;
      const params = requestParamsSchema.parse(interaction.params);
      const client = await provider().Client.find(params.client_id);
      return client && toAuthorizationRequest(interaction.uid, params, client, resources);
    },

    async outcome(ctx, { account_id }) {
      const decision = decisionSchema.safeParse(await storage.findRecord('Decision', uidOf(ctx)));
      if (!decision.success || decision.data.account_id !== account_id) return undefined;
      const interaction = await interactionOf(ctx);
      return interaction?.result === undefined ? decision.data : { to: interaction.returnTo };
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
      const decision = { ...toDecision(request, person), grantId: grant_id, handle: agent.canonical_handle };
      try {
        await finish(ctx, { login, consent: { grantId: grant_id } }, decision);
      } catch (error) {
        await storage.endGrant(grant_id);
        throw error;
      }
    },

    async deny(ctx, request, person) {
      const error_description = 'The person denied the request.';
      await finish(ctx, { error: 'access_denied', error_description }, toDecision(request, person));
    },
  };
}

/** The decision to deny a request. */
function toDecision({ client }: AuthorizationRequest, { account_id }: Person): DecisionRecord {
  return { account_id, grantId: null, app: client.name ?? client.redirect_host, handle: null };
}

const uidOf = (ctx: Context) => ctx.path.slice(requestsPath.length + 1);

/** Undefined if the resource is unknown. */
function toAuthorizationRequest(
  uid: string,
  { client_id, redirect_uri, scope, resource: [requested] }: z.infer<typeof requestParamsSchema>,
  client: Client,
  resources: Record<TokenResource, string>,
): AuthorizationRequest | undefined {
  const audiences = Object.entries(resources) as [TokenResource, string][];
  const [audience, resource] = audiences.find(([, address]) => address === requested) ?? [];
  if (!audience || resource === undefined) return undefined;
  const { host, loopback, unknown_scheme } = describeRedirect(redirect_uri);
  return {
    uid,
    client: {
      client_id,
      name: sanitizeName(client.clientName ?? '') || null,
      uri: client.clientUri ?? null,
      redirect_host: host,
      kind: kindOf(client_id),
      loopback,
      unknown_scheme,
    },
    scopes: knownScopes(scope),
    audience,
    resource,
  };
}

function kindOf(client_id: string): AuthorizationRequest['client']['kind'] {
  if (client_id === commandLineClient.client_id) return 'command-line';
  if (isOwnClient(client_id)) return 'own';
  return isDocumentId(client_id) ? 'document' : 'registered';
}

function requestExpiredError(): DomainError {
  return new DomainError('NOT_FOUND', 'This request is no longer valid.');
}
