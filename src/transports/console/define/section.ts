import type { ComponentChildren } from 'preact';
import type { FormErrors } from '../form-errors.ts';
import type { Answer, PersonVisit, Redirect, ShownPage } from '../route.ts';

/** A request to a page that is defined as data. */
export interface PageVisit extends PersonVisit {
  /** The path of the page, with its parameters filled in. */
  address: string;
}

/** A value, or what computes it for a request. */
export type Per<V, T> = T | ((visit: V) => T);

/** The value for a request. */
export function valueFor<V, T>(value: Per<V, T>, visit: V): T {
  return typeof value === 'function' ? (value as (visit: V) => T)(visit) : value;
}

/** A form that was not accepted. The page shows it again. */
export interface Submitted {
  /** The name of the form. */
  form: string;
  entered: Readonly<Record<string, unknown>>;
  errors?: FormErrors;
  /** Whether the page has the error of the whole form above its sections. */
  isErrorShown?: boolean;
}

export type Show<V> = (
  visit: V,
  submitted: Submitted | undefined,
) => ComponentChildren | Promise<ComponentChildren>;

/** A part of a page. */
export interface Section<V> {
  show: Show<V>;
  /** The form of the section. */
  form?: {
    /** The part of its path after that of the page; empty: the path of the page. */
    name: string;
    maxFormBytes?: number | undefined;
    takesFiles?: boolean | undefined;
    submit(visit: V, again: (submitted: Submitted) => Promise<ShownPage>): Promise<Answer>;
  };
}

/** A change from a button. Returns the message for the page that follows. Its errors are shown there too. */
export type Change<V> = (visit: V) => Promise<string | Redirect | ShownPage>;
