/** The parts that tests use; the package has no types. */
declare module "@20minutes/s3rver" {
  export default class S3rver {
    constructor(options: {
      port: number;
      address: string;
      silent: boolean;
      directory: string;
      configureBuckets: { name: string; configs: unknown[] }[];
    });
    run(): Promise<unknown>;
    close(): Promise<void>;
  }
}
