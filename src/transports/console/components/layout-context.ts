import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Person } from '../../../domain/auth/actor.ts';
import type { Assets } from '../assets.ts';
import type { Flash } from '../flash.ts';

/** What every part of a page can know without being handed it. */
export interface LayoutContext {
  person: Person | undefined;
  /** Path of the page. */
  path: string;
  flash: Flash | undefined;
  assets: Assets;
  /** The field `csrf` of every form. */
  csrf(): string;
}

const context = createContext<LayoutContext | undefined>(undefined);

export const LayoutContextProvider = context.Provider;

/** The frame of the page that is being rendered. */
export function useLayoutContext(): LayoutContext {
  const frame = useContext(context);
  if (!frame) throw new Error('this part of a page is rendered outside of one');
  return frame;
}
