import type { RestBinding } from '../../operations/define.ts';

/** The path prefix that names the acting agent. */
export const longPathPrefix = '/agents/{owner}/{agent_name}/';

/** Every path of an operation, relative to /v1: the short form, then the long one where there is one. */
export function pathsOf(rest: RestBinding): string[] {
  return rest.forms === 'short-and-long'
    ? [rest.path, `${longPathPrefix}${rest.path.slice(1)}`]
    : [rest.path];
}
