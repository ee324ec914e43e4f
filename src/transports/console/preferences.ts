import type { Context } from 'koa';
import { cookieOf, setCookie } from './cookies.ts';
import { action, safeReturnPath } from './route.ts';

const yearMs = 31_536_000_000;

/** The choices of a browser. The first value of each is the default. */
const choices = { density: ['comfortable', 'compact'], letters: ['on', 'off'] } as const;

/** What a browser has chosen. */
export interface Preferences {
  /** Whether lists and messages are closer together. */
  isCompact: boolean;
  /** Whether keys without Ctrl do something (WCAG 2.2, criterion 2.1.4). */
  hasLetterKeys: boolean;
}

export function preferencesOf(ctx: Context): Preferences {
  return {
    isCompact: cookieOf(ctx, 'density') === 'compact',
    hasLetterKeys: cookieOf(ctx, 'letters') !== 'off',
  };
}

/** Where the forms post to. */
export const preferencesPath = '/console/preferences';

/** Keeps the choices of a form for this browser, and returns to the page. */
export const preferencesAction = action(preferencesPath, ({ ctx, form }) => {
  for (const name of ['density', 'letters'] as const) {
    if (!form.has(name)) continue;
    const value = choices[name].find((each) => each === form.get(name)) ?? choices[name][0];
    setCookie(ctx, name, value, yearMs);
  }
  return { to: safeReturnPath(form.get('to')) };
});
