import { describe, expect, test } from 'vitest';
import { type EventType, eventTypes } from '../../../packages/core/src/events/list.ts';
import { canSeeEvent } from '../../../packages/core/src/events/feed-event.ts';
import {
  allows,
  type Scope,
  scopes,
  sufficientScopes,
} from '../../../packages/core/src/domain/auth/scopes.ts';

describe('scopes', () => {
  test.each(scopes)('%s allows itself, and a token without scopes does not have it', (scope) => {
    expect(allows(new Set([scope]), scope)).toBe(true);
    expect(allows(new Set(), scope)).toBe(false);
  });

  test.each<[granted: Scope, required: Scope, allowed: boolean]>([
    ['contacts:read', 'agents:read', true],
    ['contacts:write', 'agents:read', true],
    ['threads:read', 'agents:read', true],
    ['threads:write', 'agents:read', true],
    ['realtime:read', 'agents:read', false],
    ['agents:write', 'agents:read', false],
    ['threads:read', 'agents:write', false],
    ['threads:write', 'threads:read', false],
    ['threads:read', 'threads:write', false],
    ['contacts:read', 'threads:read', false],
    ['realtime:read', 'threads:read', false],
  ])('%s and nothing else: %s %s', (granted, required, allowed) => {
    expect(allows(new Set([granted]), required)).toBe(allowed);
  });

  test('all scopes that are sufficient alone are named, the recommended one first', () => {
    expect(sufficientScopes('threads:write')).toEqual(['threads:write']);
    const basic = ['contacts:read', 'contacts:write', 'threads:read', 'threads:write'];
    expect(sufficientScopes('agents:read')).toEqual(['agents:read', ...basic]);
  });

  test.each<[granted: Scope, type: EventType, seen: boolean]>([
    ['threads:read', 'message.created', true],
    ['threads:read', 'thread.created', true],
    ['threads:read', 'thread.updated', true],
    ['threads:write', 'message.created', false],
    ['contacts:read', 'message.created', false],
    ['contacts:read', 'thread.updated', false],
  ])('%s and nothing else: event %s %s', (granted, type, seen) => {
    expect(canSeeEvent(new Set([granted]), type)).toBe(seen);
  });

  test.each(eventTypes)('realtime:read alone permits %s', (type) => {
    expect(canSeeEvent(new Set(['realtime:read']), type)).toBe(true);
  });
});
