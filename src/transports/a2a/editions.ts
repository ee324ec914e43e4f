import {
  fromLegacyParams,
  legacyMethods,
  toLegacyEvent,
  toLegacyResult,
  toLegacyText,
} from '../../presenters/a2a/legacy.ts';

/** The names, requests, results and events of one version of A2A over JSON-RPC. */
export interface Edition {
  version: '1.0' | '0.3';
  /** Whether the address serves the version that a client names. */
  isServed(version: string): boolean;
  /** Returns the method of 1.0 for a name. */
  toMethod(name: string): string | undefined;
  toParams(method: string, params: Record<string, unknown>): Record<string, unknown>;
  toResult(method: string, result: object): unknown;
  /** @param isLast whether the stream ends after the event. */
  toEvent(event: object, isLast: boolean): object;
  /** Converts the text or the field of an error. */
  toText(text: string): string;
}

/** A patch version does not count (A2A 1.0, section 3.6). */
export const currentEdition: Edition = {
  version: '1.0',
  isServed: (version) => /^1\.0(?:\.\d+)?$/.test(version),
  toMethod: (name) => name,
  toParams: (_method, params) => params,
  toResult: (_method, result) => result,
  toEvent: (event) => event,
  toText: (text) => text,
};

/** No version means 0.3 (section 3.6.2). */
export const legacyEdition: Edition = {
  version: '0.3',
  isServed: (version) => /^(?:0\.3(?:\.\d+)?)?$/.test(version),
  toMethod: (name) => (Object.hasOwn(legacyMethods, name) ? legacyMethods[name] : undefined),
  toParams: fromLegacyParams,
  toResult: (method, result) => toLegacyResult(method, { ...result }),
  toEvent: (event, isLast) => toLegacyEvent({ ...event }, isLast),
  toText: toLegacyText,
};
