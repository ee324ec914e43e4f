import { sufficientScopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import type { Operation, RestBinding } from '../../../operations/define.ts';
import { pathsOf, type Route } from '../route.ts';
import type { Endpoint } from './endpoint.ts';

/** Whether the path names the acting agent. `short`: it does not, or it is the only path of the operation. */
export type PathForm = 'short' | 'long';

/** The endpoints under /v1 with paths of this form. Routes have no long paths. */
export function endpointsOf(
  catalogue: readonly Operation[],
  routes: readonly Route[],
  form: PathForm,
): Endpoint[] {
  const operations = catalogue.flatMap((operation) => {
    const { rest } = operation;
    if (!rest) return [];
    const [short, long] = pathsOf(rest);
    const path = form === 'short' ? short : long;
    return path === undefined ? [] : [endpointOf(operation, rest, path)];
  });
  return form === 'short' ? [...operations, ...routes] : operations;
}

function endpointOf(operation: Operation, rest: RestBinding, path: string): Endpoint {
  const { name, summary, scope, reply, input, output, errors, example } = operation;
  const content = { type: 'application/json', schema: output, example: example.output };
  return {
    method: rest.method,
    path,
    description: {
      name,
      summary,
      scopes: scope === 'any' ? [] : sufficientScopes(scope),
      // See authorizeScope.
      ...(reply && scope !== 'threads:read' && { alsoScopes: ['threads:read'] as const }),
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
