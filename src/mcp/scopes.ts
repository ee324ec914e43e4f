import type { Actor } from '../domain/actor.ts';
import { requireScope } from '../operations/execute.ts';
import { completionOf } from './complete.ts';
import type { Shown } from './shown.ts';
import type { Tool } from './tools.ts';

/** What a message calls. */
export type Called = Pick<Tool, 'operation' | 'permit' | 'during' | 'speaks'>;

/**
 * Refuses a message, or a batch of them, that calls what the token has no scope for, before anything of it runs.
 * @throws {DomainError} INSUFFICIENT_SCOPE
 */
export function requireScopes(shown: Shown, message: unknown, actor: Actor): void {
  for (const { operation, permit } of called(shown, message)) {
    requireScope(operation, actor);
    permit?.(actor);
  }
}

/** The tools and resources that a message, or a batch of them, names. */
export function called(shown: Shown, message: unknown): Called[] {
  return messagesIn(message).flatMap((one) => calledBy(shown, one) ?? []);
}

/** The messages of a batch, or the one. */
export function messagesIn(message: unknown): readonly unknown[] {
  return Array.isArray(message) ? message : [message];
}

function calledBy(shown: Shown, message: unknown): Called | undefined {
  const { tools, resources } = shown;
  const params = field(message, 'params');
  switch (field(message, 'method')) {
    case 'tools/call': {
      const name = field(params, 'name');
      return typeof name === 'string' ? tools.get(name) : undefined;
    }
    case 'resources/read':
    case 'resources/subscribe': {
      const uri = field(params, 'uri');
      return typeof uri === 'string' ? resources.find(uri) : undefined;
    }
    case 'completion/complete': {
      const [ref, argument] = [field(params, 'ref'), field(field(params, 'argument'), 'name')];
      return typeof argument === 'string'
        ? completionOf(shown, { ref: { uri: field(ref, 'uri'), name: field(ref, 'name') }, argument })
        : undefined;
    }
    default:
      return undefined;
  }
}

/** A field of whatever came in. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
