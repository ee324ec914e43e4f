import { sufficientScopes } from '../../../domain/auth/scopes.ts';
import type { Operation, RestBinding } from '../../../operations/define.ts';
import { longPathPrefix, pathsOf, type Route } from '../route.ts';
import type { Endpoint } from './endpoint.ts';

/** All endpoints under /v1: every REST operation in each of its forms, then the other routes. */
export function endpointsOf(catalogue: readonly Operation[], routes: readonly Route[]): Endpoint[] {
  const operations = catalogue.flatMap((operation) => {
    const { rest } = operation;
    return rest ? pathsOf(rest).map((path) => endpointOf(operation, rest, path)) : [];
  });
  return [...operations, ...routes];
}

function endpointOf(operation: Operation, rest: RestBinding, path: string): Endpoint {
  const { name, summary, scope, input, output, errors, example } = operation;
  const content = { type: 'application/json', schema: output, example: example.output };
  return {
    method: rest.method,
    path,
    description: {
      name: path.startsWith(longPathPrefix) ? `${name}_as` : name,
      summary,
      scopes: scope === 'any' ? [] : sufficientScopes(scope),
      input,
      ...(rest.idempotency && { idempotency: rest.idempotency }),
      status: rest.status,
      location: rest.location !== undefined || rest.redirect !== undefined,
      ...(rest.upload !== undefined && { body_type: 'multipart/form-data' }),
      content: rest.status === 204 || rest.redirect ? [] : [content],
      errors,
      example: example.input,
    },
  };
}
