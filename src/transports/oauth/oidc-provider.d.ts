/** Internal modules of the package. Its main module prints a warning on Node 20, although it works there. */
declare module 'oidc-provider/lib/provider.js' {
  export { default as Provider } from 'oidc-provider';
}

declare module 'oidc-provider/lib/helpers/errors.js' {
  import type { errors } from 'oidc-provider';

  export const InvalidClient: typeof errors.InvalidClient;
  export const InvalidClientAuth: typeof errors.InvalidClientAuth;
  export const InvalidClientMetadata: typeof errors.InvalidClientMetadata;
  export const InvalidGrant: typeof errors.InvalidGrant;
  export const InvalidRequest: typeof errors.InvalidRequest;
  export const InvalidScope: typeof errors.InvalidScope;
  export const InvalidTarget: typeof errors.InvalidTarget;
  export const SessionNotFound: typeof errors.SessionNotFound;
}
