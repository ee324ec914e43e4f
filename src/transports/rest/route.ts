import type { Middleware } from 'koa';
import type { z } from 'zod';
import type { ErrorCode } from '../../../packages/core/src/domain/errors.ts';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import type { RestBinding } from '../../operations/define.ts';

/** A response body of a route. */
export interface RouteContent {
  /** Media type, without parameters. */
  type: string;
  schema: z.ZodType;
  example: unknown;
}

/** Describes one endpoint in the OpenAPI document, be it an operation or a route. */
export interface RouteDescription {
  /** snake_case, unique among all operations and routes. */
  name: string;
  summary: string;
  /** More than the summary says, in Markdown. */
  description?: string;
  /** The token needs one of these scopes, and those of `alsoScopes`. Empty: any token. */
  scopes: readonly Scope[];
  alsoScopes?: readonly Scope[];
  /** Whether requests without a token are allowed. The route then authenticates by itself. */
  anonymous?: boolean;
  /** Path parameters, together with the query of a GET or the body of any other method. */
  input: z.ZodType;
  /** The media type of the request body, if it is not JSON. */
  body_type?: string;
  idempotency?: RestBinding['idempotency'];
  status: number;
  /** Whether the response has a Location header. */
  location?: boolean;
  /** Whether the response has an ETag and the route supports If-None-Match (RFC 9110, section 13). */
  conditional?: boolean;
  /** Empty for a response without a body; several if the client can choose with Accept (RFC 9110, section 12.1). */
  content: readonly RouteContent[];
  /** Error codes, except those of every route. */
  errors: readonly ErrorCode[];
  /** An example input. */
  example: Record<string, unknown>;
}

/** An endpoint under /v1 that is not an operation: one that waits, or that returns something other than JSON. */
export interface Route {
  method: RestBinding['method'];
  /** Relative to /v1, with `{name}` for parameters. */
  path: string;
  /** They run after `authenticate`, unless the route is anonymous. */
  stages: readonly Middleware[];
  description: RouteDescription;
}

/** The path prefix that names the acting agent. */
export const longPathPrefix = '/agents/{owner}/{agent_name}/';

/** Every path of an operation, relative to /v1: the short form, then the long form if it has one. */
export function pathsOf(rest: RestBinding): string[] {
  return rest.forms === 'short-and-long'
    ? [rest.path, `${longPathPrefix}${rest.path.slice(1)}`]
    : [rest.path];
}
