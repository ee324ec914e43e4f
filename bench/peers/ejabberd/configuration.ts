/** What the configuration of one run names. */
export interface ConfigurationOptions {
  port: number;
  /** URL of a PostgreSQL database with the tables of ejabberd. */
  database_url: string;
}

/** The domain of all users, and that of all rooms. */
export const domain = 'localhost';
export const roomDomain = `conference.${domain}`;

/**
 * The configuration of ejabberd (ejabberd.yml; JSON is YAML): every message and every room message is archived in PostgreSQL, and no limit
 * slows a client down. It listens on loopback only.
 */
export function buildConfiguration({ port, database_url }: ConfigurationOptions): string {
  const database = new URL(database_url);
  return JSON.stringify({
    hosts: [domain],
    loglevel: 'warning',
    listen: [
      {
        port,
        ip: '127.0.0.1',
        module: 'ejabberd_http',
        backlog: 2048,
        request_handlers: { '/ws': 'ejabberd_http_ws', '/api': 'mod_http_api' },
      },
    ],
    auth_method: ['internal'],
    auth_password_format: 'plain',
    default_db: 'mnesia',
    sql_type: 'pgsql',
    sql_server: database.hostname,
    sql_port: Number(database.port),
    sql_database: database.pathname.slice(1),
    sql_username: decodeURIComponent(database.username),
    sql_password: decodeURIComponent(database.password),
    sql_pool_size: 20,
    acl: { local: { user_regexp: '' } },
    access_rules: { local: { allow: 'local' }, everyone: { allow: 'all' } },
    api_permissions: { loopback: { who: { ip: '127.0.0.1/8' }, what: '*' } },
    shaper: { fast: { rate: 1_000_000_000, burst_size: 1_000_000_000 } },
    shaper_rules: { max_user_sessions: 10, max_user_offline_messages: 1_000_000, c2s_shaper: 'none' },
    modules: {
      mod_admin_extra: {},
      mod_http_api: {},
      mod_disco: {},
      mod_roster: {},
      mod_offline: { access_max_user_messages: 'max_user_offline_messages' },
      mod_stream_mgmt: { resend_on_timeout: false },
      mod_mam: { db_type: 'sql', default: 'always', assume_mam_usage: true, cache_size: 10_000 },
      mod_muc: {
        db_type: 'mnesia',
        access: 'everyone',
        access_create: 'everyone',
        history_size: 0,
        max_users: 1_000,
        min_message_interval: 0,
        min_presence_interval: 0,
        default_room_options: { mam: true, persistent: false },
      },
    },
  });
}
