/** Applies the migrations to the database that `url` names. Safe to repeat, and safe when several processes do it at once. */
export declare function migrate(url: string): Promise<void>;
