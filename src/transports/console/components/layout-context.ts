import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Person } from '../../../../packages/core/src/domain/auth/actor.ts';
import type { Assets } from '../assets.ts';
import type { Flash } from '../flash.ts';
import type { Preferences } from '../preferences.ts';
import type { KeptForm } from '../kept-form.ts';

/** Data that every component of a page can read. */
export interface LayoutContext extends Preferences {
  person: Person | undefined;
  /** Path of the page. */
  path: string;
  method: string;
  /** The time zone of the reader. Undefined: unknown. */
  timeZone: string | undefined;
  flash: Flash | undefined;
  assets: Assets;
  /** A form of this page to fill in with what the person entered before a sign-in. */
  keptForm: KeptForm | undefined;
  /** The number of pending approvals, for the navigation. */
  openApprovals: number;
  /** Whether the person has turned notifications of the browser on. */
  notifies: boolean;
  /** Creates the CSRF token. */
  csrf(): string;
}

const context = createContext<LayoutContext | undefined>(undefined);

export const LayoutContextProvider = context.Provider;

/** The context of the current page. @throws {Error} outside of a page. */
export function useLayoutContext(): LayoutContext {
  const value = useContext(context);
  if (!value) throw new Error('useLayoutContext is called outside of a page');
  return value;
}
