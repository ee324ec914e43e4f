import type { Middleware } from 'koa';
import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Scope } from '../../domain/auth/scopes.ts';
import type { RestBinding } from '../../operations/define.ts';

/** A body that a route answers with. */
export interface RouteContent {
  /** Media type, without parameters. */
  type: string;
  schema: z.ZodType;
  example: unknown;
}

/** What the description of the interface tells of one method at one path, be it an operation or not. */
export interface RouteDescription {
  /** snake_case; unique among all operations and routes. */
  name: string;
  summary: string;
  /** What the summary leaves open, in Markdown. */
  description?: string;
  /** Any one of these scopes will do; when none is named, every token will. */
  scopes: readonly Scope[];
  /** Callers without a token are answered too. The route then looks at tokens itself. */
  anonymous?: boolean;
  /** Parameters of the path, together with the query of a GET or the fields of any other body. */
  input: z.ZodType;
  /** The media type of the body, where it is not JSON. */
  body_type?: string;
  idempotency?: RestBinding['idempotency'];
  status: number;
  /** Whether the answer tells the address of what was made. */
  location?: boolean;
  /** Whether the answer has an ETag, and callers that have it already get 304 (RFC 9110, section 13). */
  conditional?: boolean;
  /** None for an answer without a body; several where the caller may choose (RFC 9110, section 12.1). */
  content: readonly RouteContent[];
  /** What it refuses with, beside the refusals that every route has. */
  errors: readonly ErrorCode[];
  /** One input as it could be. */
  example: Record<string, unknown>;
}

/** A route under /v1 that is no operation: one that waits, or answers something else than JSON. */
export interface Route {
  method: RestBinding['method'];
  /** Relative to /v1, with `{name}` for parameters. */
  path: string;
  /** Behind `authenticate`, unless callers without a token are answered too. */
  stages: readonly Middleware[];
  description: RouteDescription;
}
