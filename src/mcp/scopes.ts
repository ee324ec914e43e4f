import type { Actor } from '../domain/actor.ts';
import type { Operation } from '../operations/define.ts';
import { requireScope } from '../operations/execute.ts';
import type { Shown } from './server.ts';

/**
 * Refuses a message, or a batch of them, that calls what the token has no scope for, before anything of it runs.
 * @throws {DomainError} INSUFFICIENT_SCOPE
 */
export function requireScopes(shown: Shown, message: unknown, actor: Actor): void {
  for (const operation of calledOperations(shown, message)) requireScope(operation, actor);
}

/** The operations that a message, or a batch of them, calls. */
export function calledOperations(shown: Shown, message: unknown): Operation[] {
  return messagesIn(message).flatMap((one) => operationOf(shown, one) ?? []);
}

/** The messages of a batch, or the one. */
export function messagesIn(message: unknown): readonly unknown[] {
  return Array.isArray(message) ? message : [message];
}

function operationOf({ tools, resources }: Shown, message: unknown): Operation | undefined {
  const params = field(message, 'params');
  switch (field(message, 'method')) {
    case 'tools/call': {
      const name = field(params, 'name');
      return typeof name === 'string' ? tools.get(name)?.operation : undefined;
    }
    case 'resources/read': {
      const uri = field(params, 'uri');
      return typeof uri === 'string' ? resources.find(uri)?.operation : undefined;
    }
    default:
      return undefined;
  }
}

/** A field of whatever came in. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
